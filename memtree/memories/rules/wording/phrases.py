"""Phrases of English, and the words that they stand for.

On the right: words; "-" for nothing; `=key` for a value of its own; `!` for a negation; a `*` at
the end where the next word must be capitalised. Of several that fit the longest counts.
"""

from __future__ import annotations

PHRASES = """
no longer = !
user said = user
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
a big fan of = like
a huge fan of = like
a great fan of = like
would like = want
would love = want
would rather = like
wants to be = like
want to be = like
would like to be = like
can not tolerate = intolerant
does not tolerate = intolerant
do not tolerate = intolerant
would prefer = like
at least = =min
no less than = =min
at most = =max
no more than = =max
no longer than = =max
not more than = =max
not longer than = =max
must not exceed = =max
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
every hour = hourly
gets up = wake
get up = wake
wakes up = wake
wake up = wake
getting up = wake
takes place = -
take place = -
is held = -
are held = -
be held = -
was held = =past
took place = =past
in charge of = lead
is responsible for = lead
are responsible for = lead
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
avoiding = !
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
is getting = is
knows how to = =can
know how to = =can
mother tongue = native language
first language = native language
saving up for = saving for
saves up for = saves for
has worked as = has been
have worked as = have been
are getting = are
on medication = take medication
is on medication = take medication
has retired = is retired
have retired = is retired
get married = marry
got married = marry
years old = -
year old = -
years of age = -
right now = now
at the moment = now
at present = now
these days = now
due date = deadline
pull request = pr
pull requests = prs
stand up = standup
code base = codebase
data base = database
front end = frontend
back end = backend
time zone = timezone
time out = timeout
set up = setup
log in = login
goes by = name
is called = name
are called = name
is named = name
called = name
named = name
call me = user name
address me as = user name
is known as = name
of all = -
in order to = -
such as = like-as
because of = =because
due to = =because
as soon as = =when
per = =per
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
on a daily basis = daily
on a weekly basis = weekly
on a regular basis = often
lives at = live in
has been = =perfect
have been = =perfect
there is = -
there are = -
it is = -
in total = -
for example = -
e.g = -
written in = use *
home is in = live in
home is = live
comes from = =from
come from = =from
originally from = =from
suffers from = have
suffering from = have
diagnosed with = have
no later than = =by
at the latest = =by
equals = is
grew up in = hometown
has lunch = eat lunch
have lunch = eat lunch
has dinner = eat dinner
have dinner = eat dinner
has breakfast = eat breakfast
have breakfast = eat breakfast
goes to bed = sleep
go to bed = sleep
is interested in = interest
interested in = interest
has an interest in = interest
looking for = seek
looks for = seek
look for = seek
searching for = seek
is searching for = seek
is trying to = try
tries to = try
good at = skilled
is good at = skilled
depends on = depend
relies on = depend
rely on = depend
is powered by = use
powered by = use
built with = use
is built with = use
is based on = use
made of = use
consists of = have
is made up of = have
a degree in = graduate
has a degree in = graduate
graduated in = graduate
graduated from = graduate
majored in = graduate
takes part in = join
participates in = join
participate in = join
signed up for = join
signed up = join
is a member of = join
belongs to = belong
deals with = handle
takes care of = care
take care of = care
cares for = care
looks after = care
look after = care
looking after = care
grows up = grow
turn on = enable
turns on = enable
switch on = enable
turned on = enable
switched on = enable
turn off = disable
turns off = disable
switch off = disable
turned off = disable
switched off = disable
get rid of = delete
throw away = delete
carry out = conduct
find out = discover
figure out = discover
point out = mention
pick up = collect
hand in = submit
hand out = distribute
fill in = complete
fill out = complete
shut down = close
set to = -
by default = default
as default = default
as a default = default
by foot = walk
on foot = walk
in the morning = morning
in the mornings = morning
in the evening = evening
in the evenings = evening
in the afternoon = afternoon
in the afternoons = afternoon
at night = night
at weekends = weekend
on weekends = weekend
at the weekend = weekend
on the weekend = weekend
so that = =so
even though = =but
in spite of = =but
kind of = -
sort of = -
type of = -
in favor of = prefer
as long as = =if
training for = prepare
preparing for = prepare
prepares for = prepare
getting ready for = prepare
was raised = grow
were raised = grow
was brought up = grow
were brought up = grow
grew up = grow
work from home = work remotely
works from home = work remotely
working from home = work remotely
work at home = work remotely
works at home = work remotely
suffers from = have
suffer from = have
is fluent in = speak fluent
am fluent in = speak fluent
play the piano = pianist
plays the piano = pianist
play the violin = violinist
plays the violin = violinist
play the guitar = guitarist
plays the guitar = guitarist
play the cello = cellist
plays the cello = cellist
play the drums = drummer
plays the drums = drummer
play the flute = flautist
plays the flute = flautist
play the bass = bassist
plays the bass = bassist
in case = =if
in general = usually
as a rule = usually
most of the time = usually
all the time = always
at all times = always
from time to time = sometimes
every now and then = sometimes
once in a while = sometimes
""".strip().splitlines()
