from headwater.simweb.world.languages import Language, labels, lines, topic, words

GERMAN = Language(
    code="de",
    homes=(("DE", "Europe/Berlin"), ("AT", "Europe/Vienna"), ("CH", "Europe/Zurich")),
    legacy_charset="iso-8859-1",
    papers=(
        words("Nord, Elbtaler, Seeland, Wald, Oberstädter, Insel, Alpen, Marschen, Weser, Hügelland"),
        words("Kurier, Bote, Anzeiger, Rundschau, Tagblatt, Zeitung, Nachrichten"),
    ),
    first_names=words("Karin, Jürgen, Lena, Matthias, Ute, Florian, Heike, Jonas, Sabine, Björn, Clara, Dieter"),
    last_names=words("Möhring, Brandhuber, Seidel, Krüger, Lindqvist, Ahlers, Vogt, Weißkopf, Tannert, Rademacher"),
    places=words("Altenfurt, Seebrück, Grünhagen, Oberlohe, Königsau, Warnhafen, Mühlbach, Steinwerder, Bad Erlau"),
    verbs=words(
        "beschlossen, abgelehnt, vorgestellt, verschoben, begrüßt, kritisiert, geprüft, verteidigt, angekündigt"
    ),
    whens=words(
        "am Montag, am Dienstagabend, in dieser Woche, nach langer Sitzung, am Freitag, im vergangenen Monat, "
        "kurz vor der Sommerpause, zum zweiten Mal in diesem Jahr, überraschend"
    ),
    titles=lines("""
        {place}: {actor} hat {thing} {verb}
        Warum {actor} {thing} {verb} hat
        {actor} hat {when} {thing} {verb}
        {number} Menschen aus {place} unterschreiben für {thing}
        {person}: „Wir geben {thing} nicht auf“
        Streit um {thing} in {place}
        Was {thing} für die Familien in {place} bedeutet
    """),
    sentences=lines("""
        {actor} hat {thing} {when} {verb}, wie aus einer Mitteilung an unsere Redaktion hervorgeht.
        Der Entscheidung gingen wochenlange Gespräche in {place} voraus, an denen {number} Menschen teilnahmen.
        „Wir wollten {thing}, und nun haben wir endlich eine klare Antwort“, sagte {person} auf Nachfrage.
        Die Kosten werden auf {number} Millionen geschätzt, rund {percent} Prozent mehr als im Frühjahr geplant.
        In {place} blieb die Stimmung ruhig, auch wenn sich manche Händler Sorgen um die Zukunft machen.
        {person} beschäftigt sich seit Jahren mit dem Thema und spricht von einem vorsichtigen Schritt nach vorn.
        Niemand hatte erwartet, dass {actor} so schnell den Kurs ändert.
        Die Zahlen zeigen, dass {percent} Prozent der Haushalte das Angebot mindestens einmal pro Woche nutzen.
        „Vor uns liegt noch sehr viel Arbeit“, erklärte {person} {when} vor der Presse.
        Ein erster Bericht soll {year} erscheinen und für alle Bürgerinnen und Bürger lesbar sein.
        Zugleich hat {actor} {thing} {verb}, was viele Beobachter überraschte.
        Ob das ausreicht, ist offen, denn die Opposition verlangt bereits eine weitere Anhörung.
        Ähnliche Vorhaben in {place} und {place} dauerten fast {number} Monate länger als versprochen.
        {actor} ließ schriftliche Fragen bis zum Erscheinen dieses Artikels unbeantwortet.
        Die Arbeiten sollen noch vor dem Ende des Jahres {year} beginnen, wenn Wetter und Geld es erlauben.
        Viele erinnern sich daran, wie der letzte Versuch nach nur {number} Tagen scheiterte.
        {person} sprach von einem schwierigen Kompromiss, mit dem am Ende alle leben können.
        In der Bücherei von {place} liegen Pläne, Zeichnungen und Briefe aus jener Zeit aus.
        Seit dem Winter sind in der Region {number} Stellen verloren gegangen, doch es entstehen auch neue Betriebe.
        Fachleute aus {place} haben die Wirkung erstmals gemessen und einen Anstieg um {percent} Prozent festgestellt.
        Vorerst will {actor} den Rat einer unabhängigen Kommission abwarten.
        „Meine Kinder fragen mich jeden Morgen danach“, erzählte {person} und lachte.
        Die nächste Sitzung findet in {place} statt und steht allen offen, die sich rechtzeitig anmelden.
        Gegenüber dem Vorjahr stieg die Summe um {percent} Prozent, so stark wie seit einem Jahrzehnt nicht mehr.
        Vor allem ältere Menschen in {place} hoffen auf eine schnelle Lösung, weil sie darauf angewiesen sind.
        Hinter verschlossenen Türen hat {actor} auch {thing} {verb}, berichten zwei Beteiligte.
    """),
    updates=lines("""
        Nachtrag: {actor} hat die wichtigsten Punkte inzwischen bestätigt und rechnet {year} mit einer Antwort.
        Dieser Artikel wurde geändert, nachdem {person} aus {place} eine Zahl berichtigt hatte.
        Inzwischen hat {actor} auch {thing} {verb}, wie unsere Redaktion {when} erfuhr.
    """),
    remarks=lines("""
        Endlich spricht es jemand aus.
        Ich war dabei, es war viel lauter als beschrieben.
        Wer soll das alles bezahlen?
        Guter Artikel, vielen Dank.
    """),
    topics=(
        topic(
            "Stadt",
            "Stadtrat, Hafen, Verkehr, Wohnen, Haushalt, Brücke",
            """
            der Stadtrat
            die Hafenverwaltung
            das Büro der Bürgermeisterin
            eine Bürgerinitiative
            der Bauausschuss
            das Verkehrsamt
            """,
            """
            die neue Fährlinie
            das Programm für günstige Wohnungen
            höhere Parkgebühren
            die Sperrung der alten Brücke
            das Fest am Fluss
            die Sanierung des Rathauses
            neue Radwege durch die Altstadt
            das Konzept für den Nachtmarkt
            """,
        ),
        topic(
            "Wissen",
            "Forschung, Klima, Messung, Universität, Meer, Vögel",
            """
            das Forschungsteam
            der Wetterdienst
            die Sternwarte
            eine Gruppe von Meeresbiologen
            das Institut für Bodenkunde
            die Expedition ins Nordmeer
            """,
            """
            die bisher größte Untersuchung der Küste
            neue Daten über Zugvögel
            das Modell der kommenden Stürme
            die Suche nach einem verlorenen Kometen
            ein günstiges Messgerät für saubere Luft
            die erste Karte der Tiefsee
            das Experiment mit schwimmenden Gärten
            eine Studie über warme Strömungen
            """,
        ),
        topic(
            "Wirtschaft",
            "Handel, Löhne, Werft, Export, Sparkasse, Gewerkschaft",
            """
            die Werft
            die Handelskammer
            ein Hersteller von Windrädern
            die Sparkasse
            die Gewerkschaft der Hafenarbeiter
            das Brauhaus
            """,
            """
            die Fusion mit der Konkurrenz
            höhere Löhne für die Beschäftigten
            das Ergebnis des dritten Quartals
            die Ausfuhr von Holz
            das Ende der Papierrechnung
            günstige Kredite für junge Gründer
            das größere Lager am Kanal
            die Bestellung von zwölf Kränen
            """,
        ),
        topic(
            "Kultur",
            "Musik, Theater, Film, Festival, Museum, Bücher",
            """
            das Stadttheater
            die Leiterin des Festivals
            ein junges Jazzorchester
            das Museum für Seefahrt
            die Jury des Buchpreises
            der Verlag der Reihe
            """,
            """
            die Eröffnung des Festivals
            eine Ausstellung vergessener Maler
            das Freiluftkino im Park
            die Lesung über Leuchtturmwärter
            die Restaurierung der Orgel
            kostenlose Konzerte am See
            eine Sammlung alter Seemannslieder
            das Stück ganz ohne Worte
            """,
        ),
    ),
    labels=labels("""
        home: Startseite
        latest: Aktuelles
        about: Über uns
        contact: Kontakt
        privacy: Datenschutz
        login: Anmelden
        search: Suche
        members: Mitglieder
        by: Von
        and: und
        published: Veröffentlicht
        updated: Aktualisiert
        related: Das könnte Sie auch interessieren
        popular: Meistgelesen
        comments: Kommentare
        share: Artikel teilen
        cookies: Wir verwenden Cookies, damit diese Seite funktioniert und wir Besuche zählen können.
        accept: Alle akzeptieren
        newsletter: Unser Newsletter, jeden Morgen
        subscribe: Abonnieren
        next: Nächste Seite
        previous: Vorherige Seite
        more: Weiterlesen
        rights: Alle Rechte vorbehalten
        advert: Anzeige
        about_text: Wir sind eine kleine, unabhängige Redaktion. Schreiben Sie uns, wir lesen jeden Brief.
        consent: Bevor Sie weiterlesen, bitten wir und unsere 312 Partner um Ihre Einwilligung, Cookies zu speichern.
        consent_use: Mit Ihrer Einwilligung messen wir, wie unsere Seiten gelesen werden, und wählen die Werbung aus.
        consent_choice: Sie können ablehnen oder Ihre Zustimmung jederzeit auf unserer Seite zum Datenschutz ändern.
        missing: Seite nicht gefunden
        missing_text: Die gewünschte Seite gibt es nicht, oder sie steht seit dem Aufräumen unter einer anderen Adresse.
        missing_advice: Prüfen Sie die Adresse, nutzen Sie die Suche oder lesen Sie, was andere gerade lesen.
        paywall: Dieser Text ist für Abonnenten. Ihre freien Artikel für diesen Monat haben Sie schon gelesen.
        paywall_offer: Jetzt abonnieren und vier Wochen lang alles lesen, auf jedem Gerät und jederzeit kündbar.
        live: Liveticker
    """),
)
