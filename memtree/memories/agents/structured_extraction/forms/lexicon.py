"""Words that tell what a value is: countries, languages, professions, and what is no name."""

from __future__ import annotations

_COUNTRIES = """
afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas
bahrain bangladesh barbados belarus belgium belize benin bhutan bolivia bosnia botswana brazil
bulgaria cambodia cameroon canada chad chile china colombia croatia cuba cyprus czechia denmark
ecuador egypt england estonia eswatini ethiopia fiji finland france gabon gambia georgia germany
ghana greece greenland grenada guatemala guinea guyana haiti honduras hungary iceland india
indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kosovo kuwait
kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania luxembourg madagascar
malawi malaysia maldives mali malta mauritius mexico moldova monaco mongolia montenegro morocco
mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan palestine
panama paraguay peru philippines poland portugal qatar romania russia rwanda scotland senegal serbia
singapore slovakia slovenia somalia spain sudan sweden switzerland syria taiwan tajikistan tanzania
thailand togo tunisia turkey turkmenistan uganda ukraine uruguay uzbekistan venezuela vietnam wales
yemen zambia zimbabwe usa us uk uae deutschland österreich schweiz frankreich italien spanien
españa francia italia alemania suiza portugal brasil méxico allemagne suisse autriche espagne
belgique italie germania svizzera austria alemanha suíça nederland duitsland belgië
"""
COUNTRIES = frozenset(_COUNTRIES.split()) | {
    "united states",
    "the united states",
    "the us",
    "the usa",
    "the uk",
    "the netherlands",
    "united kingdom",
    "the united kingdom",
    "new zealand",
    "south africa",
    "south korea",
    "north macedonia",
    "saudi arabia",
    "sri lanka",
    "costa rica",
    "el salvador",
    "czech republic",
    "the czech republic",
    "ivory coast",
    "the philippines",
    "great britain",
    "northern ireland",
    "the united arab emirates",
    "puerto rico",
    "dominican republic",
    "the dominican republic",
    "hong kong",
}
LANGUAGES = frozenset(
    """english german french spanish italian portuguese dutch russian ukrainian polish czech slovak
    hungarian romanian bulgarian greek turkish arabic hebrew persian farsi hindi urdu bengali
    punjabi tamil telugu marathi gujarati chinese mandarin cantonese japanese korean vietnamese thai
    indonesian malay tagalog swahili amharic yoruba igbo hausa zulu afrikaans danish swedish
    norwegian finnish icelandic estonian latvian lithuanian croatian serbian bosnian slovenian
    albanian macedonian catalan basque galician irish welsh gaelic latin esperanto georgian armenian
    azerbaijani kazakh uzbek mongolian nepali sinhala khmer lao burmese pashto kurdish somali
    luxembourgish maltese flemish breton quechua nahuatl hawaiian maori samoan xhosa""".split()
)
# "I'm German" is no name.
NO_NAMES = LANGUAGES | frozenset(
    """american british canadian australian austrian swiss belgian brazilian mexican argentinian
    argentine colombian chilean peruvian venezuelan cuban jamaican egyptian moroccan tunisian
    algerian nigerian ghanaian kenyan ethiopian ugandan rwandan african asian european indian
    pakistani bangladeshi lankan filipino filipina taiwanese singaporean malaysian israeli iranian
    iraqi syrian lebanese jordanian saudi afghan scottish scots english irish welsh catholic
    protestant muslim jewish hindu buddhist mormon lutheran orthodox baptist methodist atheist
    agnostic sikh quaker republican democrat libertarian socialist texan californian bavarian
    sicilian parisian londoner berliner viennese latino latina hispanic caucasian black white gay
    lesbian bi bisexual trans queer straight libra leo virgo scorpio sagittarius capricorn aquarius
    pisces aries taurus gemini cancer back done sorry fine ok okay good not sure happy ready in at
    on an a the so just stuck lost i here gen team type pro anti non ex head ceo cto cfo coo vp hr
    it qa dev devops adhd autistic vegan vegetarian celiac diabetic currently also using working
    trying looking going getting having being monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december
    available interested allergic married single divorced retired unemployed employed pregnant from
    based born new very really still now your my our his her their this that it we you they
    """.split()
)
PROFESSIONS = frozenset(
    """accountant actor actress administrator analyst anesthesiologist animator anthropologist
    archaeologist architect archivist artist assistant astronaut astronomer attorney auditor author
    baker banker barber barista bartender biologist blacksmith bookkeeper bookseller botanist
    bricklayer broker builder butcher carpenter cartographer cashier chef chemist chiropractor
    choreographer cleaner clerk coach composer conductor consultant contractor cook copywriter
    counselor counsellor curator dancer dentist dermatologist designer developer dietitian
    diplomat director doctor driver ecologist economist editor electrician engineer entrepreneur
    epidemiologist farmer filmmaker firefighter fisherman florist freelancer gardener geologist
    geographer hairdresser historian housekeeper illustrator inspector instructor interpreter
    investigator janitor jeweler journalist judge landscaper lawyer lecturer librarian lifeguard
    locksmith logistician machinist magician manager marketer mason mathematician mechanic mediator
    meteorologist microbiologist midwife miner model musician nanny neurologist neuroscientist
    notary novelist nurse nutritionist oncologist optician optometrist painter paralegal
    paramedic pastor pediatrician paediatrician pharmacist philosopher photographer physician
    physicist physiotherapist pianist pilot plumber podcaster poet policeman policewoman politician
    pharmacologist principal producer professor programmer psychiatrist psychologist publicist
    radiologist realtor receptionist recruiter researcher roofer sailor salesman salesperson
    saleswoman scientist sculptor seamstress secretary singer soldier solicitor statistician
    steward stewardess stockbroker student superintendent supervisor surgeon surveyor tailor teacher
    technician therapist toxicologist trader trainer translator trucker tutor undertaker urologist
    veterinarian vet violinist waiter waitress warden watchmaker welder winemaker writer zoologist
    engineers architect sre sysadmin apprentice intern postdoc marine officer planner operator
    owner founder cofounder ceo cto cfo headmaster marketer specialist strategist technologist
    welder cinematographer drummer guitarist webmaster""".split()
)
PETS = (
    (
        "dog puppy cat kitten parrot rabbit bunny hamster guinea pig horse pony turtle tortoise"
        " snake lizard gecko goldfish fish bird budgie canary ferret rat mouse chinchilla hedgehog"
        " goat chicken hen duck donkey tarantula spider axolotl frog labrador poodle beagle"
        " greyhound corgi dachshund husky collie terrier bulldog pug chihuahua spaniel whippet"
    )
    .replace("guinea pig", "guinea_pig")
    .split()
)
CONDITIONS = frozenset(
    """asthma diabetes migraine migraines epilepsy adhd autism dyslexia hypertension arthritis
    eczema anxiety depression insomnia ibs psoriasis tinnitus pcos endometriosis anemia
    anaemia hypothyroidism""".split()
) | {
    "type 1 diabetes",
    "type 2 diabetes",
    "high blood pressure",
    "low blood pressure",
    "celiac disease",
    "coeliac disease",
    "crohn's disease",
    "sleep apnea",
    "hay fever",
}
INSTRUMENTS = frozenset(
    """guitar piano violin cello drums bass flute trumpet saxophone clarinet ukulele harp organ
    banjo trombone viola harmonica keyboard accordion mandolin oboe""".split()
)
DIETS = frozenset(
    "vegan vegetarian pescatarian pescetarian omnivore flexitarian carnivore keto paleo halal"
    " kosher".split()
)
MARITAL = frozenset("single married divorced widowed engaged separated".split())
