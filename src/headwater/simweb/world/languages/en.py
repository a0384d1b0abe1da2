from headwater.simweb.world.languages import Language, labels, lines, topic, words

ENGLISH = Language(
    code="en",
    homes=(
        ("GB", "Europe/London"),
        ("IE", "Europe/Dublin"),
        ("CA", "America/Toronto"),
        ("AU", "Australia/Sydney"),
        ("US", "America/Chicago"),
        ("KE", "Africa/Nairobi"),
    ),
    legacy_charset="windows-1252",
    papers=(
        words("Harbour, Northfield, Valley, Lakeside, Granite, Eastgate, Millbrook, Prairie, Coastal, Foxley"),
        words("News, Gazette, Herald, Courier, Observer, Post, Dispatch, Record, Weekly"),
    ),
    first_names=words("Anna, Tom, Grace, Peter, Maya, Oliver, Ruth, Samuel, Ella, Martin, Joan, Hugh, Nora, Victor"),
    last_names=words(
        "Whitcombe, Ashdown, Marsh, Penrose, Okafor, Hollis, Trent, Kendrick, Lowe, Barrow, Nakuru, Fenwick, Sloane"
    ),
    places=words(
        "Norwick, Eastmere, Port Alder, Fallowbridge, Stanhope Bay, Greywater, Lindle, Upper Marsh, Cobham Quay, Tarn"
    ),
    verbs=words(
        "approved, rejected, presented, postponed, welcomed, criticised, reviewed, defended, announced, questioned"
    ),
    whens=words(
        "on Monday, on Tuesday evening, this week, after a long meeting, on Friday, last month, late on Thursday, "
        "at short notice, before the summer break, for the second time this year"
    ),
    titles=lines("""
        {actor} {verb} {thing} {when}
        {place}: {actor} {verb} {thing}
        Why {actor} {verb} {thing}
        {thing} divides {place} as costs rise by {percent} percent
        What {thing} means for families in {place}
        {person}: “We will not give up on {thing}”
        {number} people in {place} sign petition about {thing}
        How {place} hopes to pay for {thing}
    """),
    sentences=lines("""
        {actor} {verb} {thing} {when}, according to a statement sent to this newsroom.
        The decision followed weeks of debate in {place}, where {number} residents had signed a letter of protest.
        “We asked for {thing} and we were given a clear answer,” said {person}, who lives near the old market.
        Officials put the cost at {number} million, about {percent} percent more than was planned in the spring.
        In {place} the mood was calm, although some shopkeepers worry about what comes next.
        {person}, who has followed the matter for years, called the result a cautious step in the right direction.
        Nobody expected that {actor} would change course so quickly.
        The figures show that {percent} percent of households already use the service at least once a week.
        “There is still a great deal of work ahead of us,” {person} told reporters {when}.
        A first report is due in {year}, and the public will be able to read it in full.
        At the same time {actor} {verb} {thing}, which surprised many observers.
        Whether this is enough remains open, and the opposition has already asked for another hearing.
        Similar projects in {place} and {place} took almost {number} months longer than their planners had promised.
        {actor} did not answer written questions by the time this article was published.
        Critics say that {thing} would cost far more than the numbers suggest.
        The work should begin before the end of {year} if the weather and the money allow it.
        Many people remember how the last attempt failed after only {number} days.
        {person} spoke of a difficult compromise that nobody loves but everybody can live with.
        In the library of {place} visitors can look at maps, drawings and letters from that time.
        The region has lost {number} jobs since the winter, yet the number of new companies keeps growing.
        Experts from {place} measured the effect for the first time and found a rise of {percent} percent.
        For now {actor} wants to wait for the advice of an independent panel.
        “My children ask me about {thing} every morning,” said {person} with a smile.
        The next meeting takes place in {place} and is open to everyone who registers in time.
        It was {person} who first described the problem, in a short paper that few people read.
        Compared with the year before, the total went up by {percent} percent, the strongest change in a decade.
        Behind closed doors {actor} {verb} {thing} as well, two people with knowledge of the talks said.
        Those who depend on it most, above all older people in {place}, hope for a quick solution.
    """),
    updates=lines("""
        Update: {actor} has since confirmed the main points and expects a final answer in {year}.
        This article was changed after {person} from {place} corrected one of the figures.
        In the meantime {actor} {verb} {thing}, as this newsroom learned {when}.
    """),
    remarks=lines("""
        Finally somebody says it out loud.
        I was there and it was much louder than you write.
        Could you explain where the money comes from?
        Good article, thank you.
    """),
    topics=(
        topic(
            "City",
            "council, harbour, transport, housing, tide tables, budget",
            """
            the city council
            the mayor’s office
            the port authority
            a citizens’ group
            the housing committee
            the transport department
            """,
            """
            the new harbour budget
            the plan for cheaper ferries
            a ban on cars near the river
            the reopening of the night market
            the long delayed tram line
            the digital tide tables
            higher parking fees
            the sale of the old customs house
            """,
        ),
        topic(
            "Science",
            "research, climate, ocean, measurement, university, forecast",
            """
            the research team
            the weather service
            a group of marine biologists
            the university laboratory
            the national observatory
            an expedition to the northern ice
            """,
            """
            the largest survey of the coast
            a cheap sensor for clean air
            the theory of the warm current
            the search for a lost comet
            the first map of the deep valley
            new data on migrating birds
            an experiment with floating gardens
            the model of the coming storms
            """,
        ),
        topic(
            "Business",
            "economy, trade, jobs, shipping, market, wages",
            """
            the shipping company
            the chamber of commerce
            a maker of wind turbines
            the savings bank
            the union of dock workers
            the family brewery
            """,
            """
            the merger with its rival
            a wage rise for all staff
            the move to a bigger warehouse
            the export of timber
            the end of paper invoices
            a loan for young founders
            the quarterly results
            the contract for twelve new cranes
            """,
        ),
        topic(
            "Culture",
            "music, theatre, film, festival, museum, books",
            """
            the municipal theatre
            the festival director
            a young jazz orchestra
            the museum of navigation
            the publisher of the series
            the jury of the book prize
            """,
            """
            the opening night of the festival
            an exhibition of forgotten painters
            the return of the open-air cinema
            a novel about lighthouse keepers
            the restoration of the organ
            free concerts in the park
            the translation of old sea songs
            a film without a single word
            """,
        ),
    ),
    labels=labels("""
        home: Home
        latest: Latest news
        about: About us
        contact: Contact
        privacy: Privacy
        login: Sign in
        search: Search
        members: Members
        by: By
        and: and
        published: Published
        updated: Updated
        related: You may also like
        popular: Most read
        comments: Comments
        share: Share this article
        cookies: We use cookies to make this site work and to count visits.
        accept: Accept all
        newsletter: Get our newsletter every morning
        subscribe: Subscribe
        next: Next page
        previous: Previous page
        more: Read more
        rights: All rights reserved
        advert: Advertisement
        about_text: We are a small independent newsroom. Write to us, we read every letter.
        consent: Before you read on, we and our 312 partners ask for your consent to store cookies on your device.
        consent_use: With your consent we measure how our pages are read and choose the advertising that you see.
        consent_choice: You may refuse, or change your mind on our privacy page whenever you like.
        missing: Page not found
        missing_text: The page you asked for does not exist, or it stands at another address since we tidied up.
        missing_advice: Check the address, use the search, or read what others are reading at this moment.
        paywall: This story is for subscribers. You have read all the free stories we can offer you this month.
        paywall_offer: Subscribe now and read everything for four weeks, on every device, and cancel when you like.
        live: Live
    """),
)
