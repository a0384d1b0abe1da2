from headwater.simweb.world.languages import Language, labels, lines, topic, words

FRENCH = Language(
    code="fr",
    homes=(
        ("FR", "Europe/Paris"),
        ("BE", "Europe/Brussels"),
        ("CA", "America/Toronto"),
        ("SN", "Africa/Dakar"),
    ),
    legacy_charset="iso-8859-1",
    papers=(
        words("Le Littoral, La Vallée, Le Plateau, La Rive, Le Midi, La Lande, Le Phare, La Plaine"),
        words("Matin, Libre, Info, Républicain, Dimanche, Soir, Hebdo"),
    ),
    first_names=words("Élise, Marc, Chloé, Benoît, Amélie, Thierry, Sophie, Rémi, Fatou, Gaël, Inès, Pascal"),
    last_names=words("Vauclair, Delmas, Kerbrat, Fontanel, Diop, Marchand, Lenoir, Roussel, Garrigue, Thibault"),
    places=words("Port-Clair, Saint-Alban, Montrieux, La Ferrière, Belcastel, Kervenn, Villedieu, Les Aulnes"),
    verbs=words("adopté, rejeté, présenté, reporté, salué, critiqué, examiné, défendu, annoncé, réclamé"),
    whens=words(
        "lundi, mardi soir, cette semaine, après une longue réunion, vendredi, le mois dernier, "
        "avant la pause estivale, pour la deuxième fois cette année, à la surprise générale"
    ),
    titles=lines("""
        À {place}, {actor} a {verb} {thing}
        Pourquoi {actor} a {verb} {thing}
        {actor} a {verb} {thing} {when}
        {number} habitants de {place} se mobilisent pour {thing}
        {person} : « Nous croyons encore que {thing} peut réussir »
        Ce que {thing} va changer pour les familles de {place}
    """),
    sentences=lines("""
        {actor} a {verb} {thing} {when}, selon un communiqué transmis à notre rédaction.
        Cette décision fait suite à des semaines de débats à {place}, où {number} habitants avaient écrit une lettre.
        « Nous attendions une réponse claire et nous l’avons enfin obtenue », explique {person}, qui vit près du marché.
        Le coût est estimé à {number} millions, soit {percent} pour cent de plus que prévu au printemps.
        À {place}, l’ambiance est restée calme, même si certains commerçants s’inquiètent de la suite.
        {person}, qui suit le dossier depuis des années, parle d’un pas prudent dans la bonne direction.
        Personne ne pensait que {actor} changerait d’avis aussi vite.
        Les chiffres montrent que {percent} pour cent des ménages utilisent déjà ce service chaque semaine.
        « Il nous reste encore beaucoup de travail », a déclaré {person} devant la presse.
        Un premier rapport est attendu en {year} et tout le monde pourra le lire.
        Dans le même temps, {actor} a {verb} {thing}, ce qui a surpris de nombreux observateurs.
        Reste à savoir si cela suffira, car l’opposition demande déjà une nouvelle audition.
        Des projets comparables à {place} et à {place} ont duré près de {number} mois de plus que promis.
        {actor} n’avait pas répondu à nos questions écrites au moment de la publication de cet article.
        Selon ses adversaires, {thing} coûterait bien plus cher que ne le disent les chiffres.
        Les travaux devraient commencer avant la fin de l’année {year}, si la météo et les finances le permettent.
        Beaucoup se souviennent que la dernière tentative avait échoué au bout de {number} jours seulement.
        {person} évoque un compromis difficile que personne n’aime mais que chacun peut accepter.
        À la bibliothèque de {place}, on peut consulter des plans, des dessins et des lettres de cette époque.
        La région a perdu {number} emplois depuis l’hiver, mais de nouvelles entreprises continuent de naître.
        Des spécialistes venus de {place} ont mesuré l’effet pour la première fois : une hausse de {percent} pour cent.
        Pour l’instant, {actor} préfère attendre l’avis d’une commission indépendante.
        La prochaine réunion aura lieu à {place} et sera ouverte à toutes les personnes inscrites.
        Par rapport à l’année précédente, le total a augmenté de {percent} pour cent, du jamais vu depuis dix ans.
        Les personnes âgées de {place}, qui en dépendent le plus, espèrent une solution rapide.
    """),
    updates=lines("""
        Mise à jour : {actor} a depuis confirmé les points principaux et attend une réponse définitive en {year}.
        Cet article a été modifié après une correction apportée par {person}, de {place}.
        Entre-temps, {actor} a {verb} {thing}, a appris notre rédaction.
    """),
    remarks=lines("""
        Enfin quelqu’un qui ose le dire.
        J’y étais, c’était bien plus bruyant que cela.
        Et qui va payer tout cela ?
        Très bon article, merci.
    """),
    topics=(
        topic(
            "Ville",
            "mairie, port, transports, logement, budget, pont",
            """
            le conseil municipal
            la mairie
            l’autorité portuaire
            un collectif d’habitants
            la commission du logement
            le service des transports
            """,
            """
            le nouveau budget du port
            la ligne de tramway
            la fermeture du vieux pont
            le marché de nuit
            la hausse du stationnement
            le plan vélo du centre-ville
            la vente de l’ancienne douane
            la rénovation des écoles
            """,
        ),
        topic(
            "Sciences",
            "recherche, climat, océan, mesure, université, oiseaux",
            """
            l’équipe de recherche
            le service météorologique
            un groupe de biologistes
            le laboratoire de l’université
            l’observatoire national
            la mission polaire
            """,
            """
            la plus vaste étude du littoral
            un capteur bon marché pour l’air
            la théorie du courant chaud
            la carte de la vallée sous-marine
            une expérience de jardins flottants
            le modèle des prochaines tempêtes
            un recensement des oiseaux migrateurs
            la recherche d’une comète perdue
            """,
        ),
        topic(
            "Économie",
            "commerce, salaires, entreprise, export, banque, syndicat",
            """
            la compagnie maritime
            la chambre de commerce
            un fabricant d’éoliennes
            la caisse d’épargne
            le syndicat des dockers
            la brasserie familiale
            """,
            """
            la fusion avec sa rivale
            une hausse générale des salaires
            le départ vers un entrepôt plus grand
            la vente de bois à l’étranger
            la fin des factures en papier
            un prêt pour les jeunes entrepreneurs
            le bilan du trimestre
            le contrat des douze grues
            """,
        ),
        topic(
            "Culture",
            "musique, théâtre, cinéma, festival, musée, livres",
            """
            le théâtre municipal
            la directrice du festival
            un jeune orchestre de jazz
            le musée de la navigation
            la maison d’édition
            le jury du prix littéraire
            """,
            """
            la soirée d’ouverture du festival
            une exposition de peintres oubliés
            le retour du cinéma en plein air
            un roman sur les gardiens de phare
            la restauration de l’orgue
            une série de concerts gratuits
            la traduction de vieux chants marins
            un film sans aucune parole
            """,
        ),
    ),
    labels=labels("""
        home: Accueil
        latest: À la une
        about: Qui sommes-nous
        contact: Contact
        privacy: Confidentialité
        login: Se connecter
        search: Recherche
        members: Abonnés
        by: Par
        and: et
        published: Publié
        updated: Mis à jour
        related: À lire aussi
        popular: Les plus lus
        comments: Commentaires
        share: Partager cet article
        cookies: Nous utilisons des cookies pour faire fonctionner ce site et mesurer les visites.
        accept: Tout accepter
        newsletter: Notre lettre, chaque matin
        subscribe: S’abonner
        next: Page suivante
        previous: Page précédente
        more: Lire la suite
        rights: Tous droits réservés
        advert: Publicité
        about_text: Nous sommes une petite rédaction indépendante. Écrivez-nous, nous lisons chaque lettre.
        consent: Avant de poursuivre, nos 312 partenaires et nous demandons votre consentement pour stocker des cookies.
        consent_use: Avec votre consentement, nous mesurons la lecture de nos pages et choisissons la publicité.
        consent_choice: Vous pouvez refuser ou changer d’avis à tout moment sur notre page de confidentialité.
        missing: Page introuvable
        missing_text: La page demandée n’existe pas, ou elle se trouve à une autre adresse depuis notre rangement.
        missing_advice: Vérifiez l’adresse, utilisez la recherche ou lisez ce que les autres lisent en ce moment.
        paywall: Cet article est réservé aux abonnés. Vous avez lu tous les articles gratuits de ce mois.
        paywall_offer: Abonnez-vous et lisez tout pendant quatre semaines, sur chaque appareil, sans engagement.
        live: En direct
    """),
)
