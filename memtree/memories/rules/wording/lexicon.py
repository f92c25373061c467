"""Words and phrases of English that mean the same, or nothing, in a memory.

The groups are narrow on purpose: a word that is missing costs a duplicate that stays, a word too
many costs a changed value that is thrown away. Antonyms, colours, foods, places, professions and
kin are therefore in no group.
"""

from __future__ import annotations

# The first word of a line stands for all of them; verbs in any inflection.
SYNONYMS = """
like love enjoy prefer favor adore
dislike hate detest loathe despise
want wish
answer reply response respond
short brief concise succinct terse
detailed thorough comprehensive in-depth elaborate
live reside dwell based
work employed
have has having own possess got
child kid children
mother mom mum
father dad
grandmother grandma granny
grandfather grandpa granddad
car automobile
bicycle bike
motorcycle motorbike
apartment flat
movie film movies films
television tv
phone telephone cellphone smartphone
holiday vacation
refrigerator fridge
doctor physician
lawyer attorney
developer programmer coder
colleague coworker
company firm
customer client
begin start commence
finish complete
stop quit cease
buy purchase bought
big large
small little
fast quick rapid
help assist assistance
show display
repair fix
choose select pick chose chosen
need require
allow permit
problem issue
delete remove erase
change modify alter
store save
reduce decrease
meeting meet met
occur happen
deploy deployment rollout
release ship
documentation docs
repository repo repos
configuration config
database db
application app
directory folder
environment env
production prod
authentication auth
picture photo photograph
email mail e-mail
ill sick
medicine medication
afraid fear scared frightened fearful
important crucial essential vital
exercise workout
marry married wed
study learn studied
wake
move relocate
leave depart
include add contain
ensure
verify check
use utilize utilise using
everyone everybody
someone somebody
javascript js
typescript ts
kubernetes k8s
postgresql postgres
information info
maximum max
minute min mins
second sec secs
hour hr hrs
administrator admin
university uni
laboratory lab
color colour
gray grey
center centre
theater theatre
favorite favourite
neighbor neighbour
program programme
behavior behaviour
organize organise
allergy allergic
spouse
often frequently
sometimes occasionally
rarely seldom
usually normally generally typically mostly
now currently presently nowadays
about approximately roughly around circa
exactly precisely
entire whole
speak talk spoke spoken
teach taught teaching
write wrote written writing
run ran
drive drove driven
eat ate eaten
drink drank drunk
swim swam
grow grew grown
build built
keep kept
pay paid
send sent
sell sold
make made
take took taken
give gave given
know knew known
wear wore worn
sleep slept
sing sang sung
fly flew flight flying
bring brought
teach
fluent fluently
responsible
code
lead led
bullet bullets bulleted
vegetarian vegetarianism
employee employees
plan intend
hobby pastime
salary wage
forbid prohibit
mandatory compulsory obligatory
smart clever intelligent
rich wealthy
happy glad pleased
tired exhausted
wrong incorrect
trousers pants
elevator lift
trash rubbish garbage
resume cv
math maths mathematics
advertisement advert ad
conversation chat
beginner novice newbie
supervisor boss
intern trainee
job occupation profession
baby infant
teenager teen
oldest eldest
change modify alter changing changed
""".strip().splitlines()

# Phrases, longest first where several fit; "-" for nothing. On the right: words, or `=key` for a
# value of its own, `!` for a negation.
PHRASES = """
no longer = !
not any more = !
not anymore = !
any more = -
anymore = -
used to = =past
formerly = =past
previously = =past
can not stand = dislike
can not bear = dislike
does not like = dislike
do not like = dislike
not fond of = dislike
fond of = like
keen on = like
a fan of = like
would like = want
would love = want
would rather = like
would prefer = like
at least = =min
no less than = =min
at most = =max
no more than = =max
no longer than = =max
not more than = =max
not longer than = =max
not exceed = =max
a maximum of = =max
maximum of = =max
a minimum of = =min
minimum of = =min
up to = =max
more than = =more
less than = =less
fewer than = =less
as well as = and
instead of = =than
rather than = =than
in place of = =than
preferred over = like =than
a lot of = many
lots of = many
plenty of = many
every day = daily
each day = daily
every week = weekly
each week = weekly
every month = monthly
every year = yearly
annually = yearly
annual = yearly
gets up = wake
get up = wake
wakes up = wake
wake up = wake
getting up = wake
takes place = -
take place = -
is held = -
in charge of = lead
is responsible for = lead
responsible for = lead
make sure = ensure
makes sure = ensure
works as = -
work as = -
working as = -
is employed as = -
going to = -
has to = =must
have to = =must
had to = =must
needs to = =must
need to = =must
is able to = =can
be able to = =can
are able to = =can
next to = beside
refrain from = !
avoid = !
avoids = !
never = !
without = !
no one = !
hardly ever = rarely
hardly = rarely
almost never = rarely
all of = every
none of = !
gave up = stop
given up = stop
give up = stop
gives up = stop
taking up = learn
takes up = learn
took up = learn
married to = marry
gets married = marry
getting married = marry
get married = marry
got married = marry
years old = old
year old = old
years of age = old
aged = old
comes from = =from
come from = =from
originally from = =from
call me = user name
address me as = user name
suffers from = have
suffering from = have
a day = =per day
a week = =per week
a month = =per month
a year = =per year
an hour = =per hour
a minute = =per minute
a second = =per second
once a day = daily
once a week = weekly
once a month = monthly
once a year = yearly
no later than = =by
equals = is
right now = now
at the moment = now
at present = now
these days = now
this time = now
due date = deadline
written in = use *
home is in = live in
home is = live
lives at = live in
pull request = pr
pull requests = prs
stand up = standup
code base = codebase
data base = database
front end = frontend
back end = backend
goes by = name
is called = name
are called = name
is named = name
called = name
named = name
of all = -
in order to = -
such as = like-as
because of = =because
due to = =because
as soon as = =when
per = =per
an hour ago = =past hour
on a daily basis = daily
on a regular basis = regularly
living in = live in
lives in = live in
has been = -
have been = -
there is = -
there are = -
it is = -
in total = -
for example = -
e.g = -
""".strip().splitlines()

# Words that carry no fact: left out wherever they stand.
FUNCTION = frozenset(
    """
    a an the is are am be been being of to that this these those it its itself there here which who
    whom where and also too just very really quite so please do does would will shall
    any ever located situated set as well however indeed actually basically simply s
    """.split()
)
PREPOSITIONS = frozenset("in on at for with to of as into onto upon within during about".split())
COPULAS = frozenset("is are am be was were being been equals means".split())
ARTICLES = frozenset(("a", "an"))
# Prepositions that say the same before one noun; others do not: works for Ann, works with Ann.
ALIKE_PREPOSITIONS = frozenset(
    frozenset(pair.split("-"))
    for pair in "in-at on-at for-at of-in of-for to-for in-within of-at in-during as-for".split()
)
# Values: what differs in one of these says something else. Keys, each with its words.
VALUES = """
past: was were did had ago formerly former ex
can: can could able
may: may might possibly maybe perhaps
must: must should ought shall
only: only solely exclusively
or: or either
more: more
less: less fewer
than: than over versus vs
from: from
by: by via
before: before until till prior
after: after following
since: since
under: under below beneath
above: above
between: between
against: against
if: if unless when whenever while
because: because therefore hence
through: through
off: off
up: up
down: down
left: left
right: right
all: every each all
some: some several
many: many much
few: few
most: most
both: both
half: half
but: but except although though
plus: plus
minus: minus
out: out
back: back
away: away
other: other another else
same: same
like-as: like-as
""".strip().splitlines()
NEGATIONS = frozenset("not no none nobody nothing nowhere neither nor cannot".split())
USER = frozenset("user users i me my mine myself".split())
# What may stand on one side alone without another meaning.
LIGHT = frozenset(
    """
    have occur begin old user you assistant ai model we they he she own use name usually now still already yet
    always about exactly project team company person people answer year old age city town
    thing kind type year time
    """.split()
)
AGENTS = {
    "teacher": "teach", "driver": "drive", "singer": "sing", "dancer": "dance", "writer": "write",
    "painter": "paint", "runner": "run", "swimmer": "swim", "baker": "bake", "smoker": "smoke",
    "climber": "climb", "gardener": "garden", "farmer": "farm",
}  # fmt: skip
EMPTY_VERBS = frozenset(("have", "use"))  # does not have a car: has no car
PER = frozenset("s sec second min minute h hr hour day week month year".split())
# What may stand on both sides: pronouns for somebody that the other text names.
GHOSTS = {
    "we": "we", "our": "we", "us": "we", "ours": "we",
    "you": "you", "your": "you", "yours": "you",
    "they": "they", "them": "they", "their": "they",
    "his": "they", "her": "they", "its": "they",
    "he": "he", "him": "he", "she": "she", "hers": "she",
}  # fmt: skip
CONTRACTIONS = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not",
    "ain't": "is not", "let's": "let us", "i'm": "i am", "dont": "do not", "doesnt": "does not",
    "isnt": "is not", "cant": "can not", "didnt": "did not", "wont": "will not", "gonna": "going to",
    "wanna": "want to", "y'all": "you",
}  # fmt: skip
ENDINGS = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
