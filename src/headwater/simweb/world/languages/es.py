from headwater.simweb.world.languages import Language, labels, lines, topic, words

SPANISH = Language(
    code="es",
    homes=(
        ("ES", "Europe/Madrid"),
        ("MX", "America/Mexico_City"),
        ("CL", "America/Santiago"),
        ("CO", "America/Bogota"),
    ),
    legacy_charset="iso-8859-1",
    papers=(
        words("La Ribera, El Faro, La Sierra, El Valle, La Costa, El Puerto, La Meseta, El Norte"),
        words("Diario, Hoy, Digital, Noticias, Semanal, Informa"),
    ),
    first_names=words("Lucía, Andrés, Marta, Íñigo, Carmen, Tomás, Pilar, Javier, Rocío, Héctor, Elena, Gonzalo"),
    last_names=words("Villalobos, Aranda, Quiroga, Peñalver, Montoya, Ibáñez, Robledo, Cárdenas, Lozano, Barrientos"),
    places=words("Puerto Claro, Villanueva del Río, Montalbán, Las Encinas, San Telmo, Peñarrubia, Altamar, Olmedo"),
    verbs=words("aprobó, rechazó, presentó, aplazó, celebró, criticó, revisó, defendió, anunció, cuestionó"),
    whens=words(
        "el lunes, el martes por la noche, esta semana, tras una larga reunión, el viernes, el mes pasado, "
        "antes del verano, por segunda vez este año, de forma inesperada"
    ),
    titles=lines("""
        {actor} {verb} {thing} {when}
        Por qué {actor} {verb} {thing} en {place}
        {place}: {actor} {verb} {thing}
        {number} vecinos de {place} firman una carta sobre {thing}
        {person}: «No vamos a renunciar, queremos {thing}»
        Lo que significa {thing} para las familias de {place}
    """),
    sentences=lines("""
        {actor} {verb} {thing} {when}, según un comunicado enviado a esta redacción.
        La decisión llega después de semanas de debate en {place}, donde {number} vecinos habían firmado una carta.
        «Pedimos una respuesta clara y por fin la tenemos», dijo {person}, que vive cerca del mercado viejo.
        El coste se calcula en {number} millones, un {percent} por ciento más de lo previsto en primavera.
        En {place} el ambiente fue tranquilo, aunque algunos comerciantes están preocupados por el futuro.
        {person}, que sigue el asunto desde hace años, habla de un paso prudente en la buena dirección.
        Nadie esperaba que {actor} cambiara de rumbo tan pronto.
        Los datos muestran que el {percent} por ciento de los hogares ya utiliza el servicio cada semana.
        «Todavía nos queda mucho trabajo por delante», explicó {person} ante los periodistas.
        El primer informe se publicará en {year} y cualquier persona podrá leerlo completo.
        Al mismo tiempo, {actor} {verb} {thing}, lo que sorprendió a muchos observadores.
        Queda por saber si será suficiente, porque la oposición ya ha pedido otra audiencia.
        Proyectos parecidos en {place} y en {place} tardaron casi {number} meses más de lo prometido.
        {actor} no había respondido a nuestras preguntas cuando se publicó este artículo.
        Según sus críticos, {thing} costaría mucho más de lo que indican las cifras.
        Las obras deberían empezar antes de que termine el año {year}, si el tiempo y el dinero lo permiten.
        Muchos recuerdan cómo el último intento fracasó después de solo {number} días.
        {person} habló de un acuerdo difícil que no entusiasma a nadie pero que todos pueden aceptar.
        En la biblioteca de {place} se pueden ver mapas, dibujos y cartas de aquella época.
        La región ha perdido {number} empleos desde el invierno, pero siguen naciendo nuevas empresas.
        Especialistas de {place} midieron el efecto por primera vez y encontraron una subida del {percent} por ciento.
        Por ahora, {actor} prefiere esperar la opinión de una comisión independiente.
        La próxima reunión será en {place} y estará abierta a quienes se inscriban a tiempo.
        En comparación con el año anterior, el total creció un {percent} por ciento, el mayor cambio en una década.
        Las personas mayores de {place}, las que más dependen de ello, esperan una solución rápida.
    """),
    updates=lines("""
        Actualización: {actor} ha confirmado los puntos principales y espera una respuesta definitiva en {year}.
        Este artículo se modificó después de que {person}, de {place}, corrigiera una de las cifras.
        Mientras tanto, {actor} {verb} {thing}, según ha sabido esta redacción.
    """),
    remarks=lines("""
        Por fin alguien lo dice.
        Yo estuve allí y había mucho más ruido.
        ¿Y quién va a pagar todo esto?
        Muy buen artículo, gracias.
    """),
    topics=(
        topic(
            "Ciudad",
            "ayuntamiento, puerto, transporte, vivienda, presupuesto, puente",
            """
            el ayuntamiento
            la alcaldía
            la autoridad portuaria
            un grupo de vecinos
            la comisión de vivienda
            el departamento de transporte
            """,
            """
            el nuevo presupuesto del puerto
            la línea de tranvía
            el cierre del puente viejo
            el mercado nocturno
            la subida de las tarifas
            el plan de carriles bici
            la venta de la antigua aduana
            la reforma de las escuelas
            """,
        ),
        topic(
            "Ciencia",
            "investigación, clima, océano, medición, universidad, aves",
            """
            el equipo de investigación
            el servicio meteorológico
            un grupo de biólogos marinos
            el laboratorio de la universidad
            el observatorio nacional
            la expedición polar
            """,
            """
            el mayor estudio de la costa
            un sensor barato para el aire limpio
            la teoría de la corriente cálida
            el mapa del valle submarino
            un experimento con jardines flotantes
            el modelo de las próximas tormentas
            un censo de aves migratorias
            la búsqueda de un cometa perdido
            """,
        ),
        topic(
            "Economía",
            "comercio, salarios, empresa, exportación, banco, sindicato",
            """
            la compañía naviera
            la cámara de comercio
            un fabricante de turbinas
            la caja de ahorros
            el sindicato de estibadores
            la cervecería familiar
            """,
            """
            la fusión con su rival
            una subida de los salarios
            el traslado a un almacén mayor
            la exportación de madera
            el fin de las facturas en papel
            un préstamo para jóvenes emprendedores
            el balance del trimestre
            el contrato de doce grúas
            """,
        ),
        topic(
            "Cultura",
            "música, teatro, cine, festival, museo, libros",
            """
            el teatro municipal
            la directora del festival
            una joven orquesta de jazz
            el museo de la navegación
            la editorial de la serie
            el jurado del premio literario
            """,
            """
            la noche inaugural del festival
            una exposición de pintores olvidados
            el regreso del cine al aire libre
            una novela sobre fareros
            la restauración del órgano
            un ciclo de conciertos gratuitos
            la traducción de antiguas canciones del mar
            una película sin una sola palabra
            """,
        ),
    ),
    labels=labels("""
        home: Portada
        latest: Últimas noticias
        about: Quiénes somos
        contact: Contacto
        privacy: Privacidad
        login: Entrar
        search: Buscar
        members: Socios
        by: Por
        and: y
        published: Publicado
        updated: Actualizado
        related: También te puede interesar
        popular: Lo más leído
        comments: Comentarios
        share: Compartir este artículo
        cookies: Usamos cookies para que esta página funcione y para contar las visitas.
        accept: Aceptar todo
        newsletter: Nuestro boletín, cada mañana
        subscribe: Suscribirse
        next: Página siguiente
        previous: Página anterior
        more: Seguir leyendo
        rights: Todos los derechos reservados
        advert: Publicidad
        about_text: Somos una pequeña redacción independiente. Escríbanos, leemos todas las cartas.
        consent: Antes de seguir, nosotros y nuestros 312 socios pedimos su consentimiento para guardar cookies.
        consent_use: Con su consentimiento medimos cómo se leen nuestras páginas y elegimos la publicidad que ve.
        consent_choice: Puede rechazarlo o cambiar de opinión cuando quiera en nuestra página de privacidad.
        missing: Página no encontrada
        missing_text: La página que ha pedido no existe, o está en otra dirección desde que ordenamos la casa.
        missing_advice: Revise la dirección, use el buscador o lea lo que otros están leyendo en este momento.
        paywall: Este artículo es para suscriptores. Ya ha leído todos los artículos gratuitos de este mes.
        paywall_offer: Suscríbase ahora y léalo todo durante cuatro semanas, en cualquier aparato y sin compromiso.
        live: En directo
    """),
)
