"""Words of English that say the same in a memory: a line each, the first stands for all.

Narrow on purpose where a change is news: a word that is missing costs a duplicate that stays, a
word too many costs a changed value that is thrown away. So antonyms, colours, foods, places,
professions, kin, tools and degrees (like, need, must) are never in one line.
"""

from __future__ import annotations

SYNONYMS = """
like love enjoy prefer favor favour adore appreciate
dislike hate detest loathe despise
want wish desire
answer reply response respond
short brief concise succinct terse
detailed thorough comprehensive in-depth elaborate extensive
live reside dwell based inhabit
work employed
have has having own possess got
child kid children
mother mom mum mommy mummy
father dad daddy
grandmother grandma granny nana
grandfather grandpa granddad
husband hubby
parent parents
person people member members
sibling siblings
car automobile
bicycle bike
motorcycle motorbike
apartment flat
movie film movies films
television tv telly
phone telephone cellphone smartphone
holiday vacation
go goes gone went trip journey travel voyage visit
refrigerator fridge
doctor physician
lawyer attorney solicitor
developer programmer coder
author writer novelist
colleague coworker
company firm
customer client
begin began begun start commence launch
finish complete conclude
stop quit cease
buy purchase bought
big large huge
small little tiny
fast quick rapid quickly speedy
slow slowly
help assist assistance aid
show display
repair fix mend
choose select pick chose chosen opt
need require necessary requirement
allow permit
problem issue trouble
delete remove erase
change modify alter changing changed
store save
reduce decrease
increase raise
meeting meet met meetings
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
authorization authz
picture photo photograph image
email emails mail e-mail e-mails mails
ill sick illness sickness
medicine medication
afraid fear phobia scared frightened fearful
important crucial essential vital
exercise workout
marry married wed
learn study studied studies
move relocate
leave depart
include add contain
ensure guarantee
verify check
use utilize utilise using usage used
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
color colour colored coloured
gray grey
center centre
theater theatre
favorite favourite
neighbor neighbour
program programme
behavior behaviour
organize organise organized organised
recognize recognise
analyze analyse
summary summarize summarise
license licence
meter metre
liter litre
allergy allergic
often frequently regularly
sometimes occasionally
rarely seldom
usually normally generally typically mostly commonly mainly primarily chiefly predominantly
now currently presently nowadays
about approximately roughly around circa nearly almost
exactly precisely
entire whole
speak talk spoke spoken
teach taught teaching
write wrote written writing
run ran
drive drove driven driving
eat ate eaten
drink drank drunk
swim swam
grow grew grown
build built
keep kept stay remain maintain
pay paid
send sent
sell sold
make made
take took taken
give gave given
know knew known
wear wore worn
sleep slept asleep
sing sang sung
fly flew flight flying
bring brought
fluent fluently
lead led leader
bullet bullets bulleted
vegetarian vegetarianism
plan intend intention planning planned
hobby pastime
salary wage
forbid prohibit prohibited forbidden ban banned
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
address addressed
last final
total overall altogether
annual yearly annually
ask request
tell inform
explain explanation explained
example sample instance
suggestion suggest recommend recommendation
error errors
bug bugs
crash crashes
receive obtain
arrive arrival
return returns
attend attendance
hold held host
manage management
belong belongs
cost price
expensive costly pricey
cheap inexpensive
near close nearby
beautiful pretty lovely
difficult challenging tough
easy effortless
funny humorous amusing
strange odd weird
quiet silent
angry furious mad
sad sorrowful
nervous anxious anxiety
stress stressed stressful stressing
pain ache hurt
headache headaches
suffer suffers
broken defective faulty
test tests testing
merge merging merged
review reviewing reviewed
commit commits
sign signed signature
subscribe subscription
invite invitation
decide decision decided
agree agreement agreed
prepare preparation
celebrate celebration
translate translation
compare comparison
discuss discussion
describe description
shop shops
garden gardening yard
dog dogs
cat cats
dish meal
dinner supper
cook cooking cooked
bake baking
vegetable vegetables veggies
sweet sweets candy
cup mug
glasses spectacles
shoe shoes footwear
sofa couch
carpet rug
country nation
forest woods
ocean sea
mountain mountains
dawn sunrise
sunset dusk
friend buddy pal mate
birthday birthdays
concert gig
music musical
hike hiking trek
jog jogging
ride riding rode
climb climbing
read reading
book books
student pupil
class course
exam examination
degree diploma
graduate graduated graduation
language languages
pronounce pronunciation
spell spelling
name named
surname lastname
age aged
weigh weight
surgery operation
injury injured
glutenfree gluten-free
intolerant intolerance
insurance insured
money cash
rent renting rented
invoice bill
tax taxes
task todo
schedule scheduled timetable
reminder remind
notification notify
password passcode
website site webpage
link url hyperlink
computer pc
laptop notebook
screen monitor
internet web
wireless wifi wi-fi
backup backups
log logs logging
metric metrics
alert alerts
parameter param argument
endpoint endpoints
timeout time-out
cache caching cached
library lib
dependency dependencies
install installation installed
encrypt encryption encrypted
comment comments
indent indentation indented
tab tabs
space spaces
line lines
word words
sentence sentences
paragraph paragraphs
title heading headline
format formatting formatted
formal formally
polite politely
informal informally
simple simply
emoji emojis emoticon emoticons
joke jokes
citation cite
kilometer kilometre km
kilogram kilo kg
percent percentage
weekend weekends
weekday weekdays
morning mornings
evening evenings
afternoon afternoons
night nights nightly
think thought
find found
hear heard
feel felt
sit sat
stand stood
understand understood
win won
lose lost
throw threw thrown
break broke
catch caught
fall fell fallen
fight fought
forget forgot forgotten
hide hid hidden
spend spent
steal stole stolen
see saw seen
come came
become became
tear tore torn
lend lent
seek sought
bad badly poorly
plan planned schedule scheduled
manager boss supervisor
salary earn
retain kept
recently lately
frequently often
rarely seldom
remotely telecommute
""".strip().splitlines()
