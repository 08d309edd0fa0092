"""Word knowledge as data: what means the same, what is opposed, what takes the other's place.

Words are written as people write them; `statement` stems both these and what it reads, so one form is enough.
"""

# Several words that stand for one, replaced before a text is cut into words. An empty value drops the phrase.
PHRASES = {
    "no longer": "not",
    "not any longer": "not",
    "any more": "",
    "any longer": "",
    "stop using": "not using",
    "stopped using": "not using",
    "stops using": "not using",
    "used to": "not",
    "never again": "never",
    "fails to": "not",
    "fail to": "not",
    "not only": "",
    "no matter": "",
    "or not": "",
    "no need to": "not need",
    "instead of": "insteadof",
    "rather than": "insteadof",
    "in place of": "insteadof",
    "in lieu of": "insteadof",
    "as opposed to": "insteadof",
    "in favour of": "infavourof",
    "in favor of": "infavourof",
    "apart from": "except",
    "other than": "except",
    "aside from": "except",
    "with the exception of": "except",
    "larger than": "above",
    "bigger than": "above",
    "greater than": "above",
    "more than": "above",
    "longer than": "above",
    "smaller than": "below",
    "less than": "below",
    "fewer than": "below",
    "shorter than": "below",
    "load balancer": "lb",
    "time to live": "ttl",
    "continuous integration": "ci",
    "single sign on": "sso",
    "two factor authentication": "2fa",
    "primary key": "pk",
    "foreign key": "fk",
    "operating system": "os",
    "machine learning": "ml",
    "by hand": "manually",
    "turned on": "enabled",
    "turn on": "enable",
    "switched on": "enabled",
    "switch on": "enable",
    "turned off": "disabled",
    "turn off": "disable",
    "switched off": "disabled",
    "switch off": "disable",
    "opt in": "optin",
    "opt out": "optout",
    "every night": "nightly",
    "each night": "nightly",
    "once a day": "daily",
    "every day": "daily",
    "each day": "daily",
    "once a week": "weekly",
    "every week": "weekly",
    "each week": "weekly",
    "once a month": "monthly",
    "every month": "monthly",
    "every hour": "hourly",
    "once an hour": "hourly",
    "every minute": "every 1 minute",
    "every second": "every 1 second",
    "these days": "now",
    "half an hour": "30 minutes",
    "half a minute": "30 seconds",
    "an hour": "1 hour",
    "a minute": "1 minute",
    "a second": "1 second",
    "a day": "1 day",
    "a week": "1 week",
    "a dozen": "12",
    "end to end": "e2e",
    "pull request": "pr",
    "pull requests": "prs",
    "merge request": "pr",
    "merge requests": "prs",
    "environment variable": "envvar",
    "environment variables": "envvars",
    "env var": "envvar",
    "env vars": "envvars",
    "personal data": "pii",
    "personally identifiable information": "pii",
    "command line": "cli",
    "source code": "code",
    "code base": "codebase",
    "time out": "timeout",
    "times out": "timeout",
    "timed out": "timeout",
    "set up": "setup",
    "log in": "login",
    "sign in": "login",
    "log out": "logout",
    "sign out": "logout",
    "break up": "split",
    "broken up": "split",
    "take care of": "handle",
    "takes care of": "handle",
    "in charge of": "owns",
    "responsible for": "owns",
    "on call": "oncall",
    "lower case": "lowercase",
    "upper case": "uppercase",
    "camel case": "camelcase",
    "snake case": "snake_case",
    "kebab case": "kebab-case",
    "pascal case": "pascalcase",
    "local time": "localtime",
    "up to date": "current",
    "out of date": "outdated",
    "read only": "readonly",
    "pull down": "pull",
    "user interface": "ui",
    "node js": "nodejs",
    "node.js": "nodejs",
    "vue.js": "vue",
    "next.js": "nextjs",
    "react.js": "react",
    "google cloud": "gcp",
    "travis ci": "travis",
    "circle ci": "circleci",
    "gitlab ci": "gitlab-ci",
    "amazon web services": "aws",
    "visual studio code": "vscode",
    "vs code": "vscode",
    "intellij idea": "intellij",
}

# Words of one line are taken for the same word.
SYNONYMS = """
document docs doc documentation
config configuration conf cfg
database db
repository repo
terraform tf
kubernetes k8s
postgres postgresql pg psql
javascript js
typescript ts
python py
application app
production prod
development dev
directory dir folder
dependency dep deps
environment env
parameter param arg argument
function func fn
administrator admin
authentication auth authn
message msg
variable var
temporary temp tmp
service svc
connection conn
utility util utils
certificate cert
credential cred creds
benchmark bench
performance perf
coverage cov
initialize init
destination dest
source src
password passwd pwd
regex regexp
internationalization i18n
localization l10n
accessibility a11y
elasticsearch elastic
mongodb mongo
rabbitmq rabbit
identifier id
colour color
behaviour behavior
favourite favorite
licence license
maximum max cap limit
minimum min
request req
response resp
package pkg
infrastructure infra
specification spec
asynchronous async
synchronous sync
interface ui
manually manual
automatically automatic auto
edit modify alter
delete erase purge remove
ignore skip
attempt try
mock stub fake
notify alert
examine inspect
save persist
create generate produce
build compile
start launch boot startup
begin commence
finish complete end
big large huge
small little tiny
quick fast rapid
error failure fail
bug defect
fix repair resolve
check verify validate
show display
choose select pick
allow permit allowed
forbid prohibit ban disallow
need require
must shall
own owner maintain maintainer
location path place
contain include hold
retain keep
expire expiry expiration
reload refresh
staff employee
job task
image img picture photo
warn warning
commit checkin
reject refuse
send dispatch
connect connection
copy duplicate
divide split
fetch retrieve
replicate replica
important crucial
compose composition
inherit inheritance
format formatter
lint linter
bundle bundler
migrate migration
deploy deployment
install installation
test testing
encrypt encryption
compress compression
january jan
february feb
august aug
september sep sept
october oct
november nov
december dec
monday mon
tuesday tue tues
wednesday wed
thursday thu thurs
friday fri
"""

# Two sides of one matter: a word left of the bar is opposed to one right of it, and means about the same as its neighbours.
OPPOSITES = """
enable activate on true yes | disable deactivate off false
allow accept approve | deny reject block
allow permit | forbid prohibit
add | remove delete
add insert | drop strip omit
include | exclude omit
install | uninstall
open unresolved outstanding | closed fixed resolved
open draft unmerged | merged
released shipped | unreleased
experimental beta alpha | stable production-ready
blocked | unblocked
archived | active
optimistic | pessimistic
batch | streaming realtime
nested recursive | flat
append | prepend
append | overwrite replace
standalone | embedded
shared common | dedicated separate exclusive
managed hosted | selfhosted
fifo | lifo
positional | keyword
sensitive | insensitive
exact | fuzzy approximate
declarative | imperative
functional | imperative
native | emulated
indoors inside | outdoors outside
day | night
open | shut close
broken failing fails | works working passing green
broken buggy | fixed repaired
pass succeed success | fail error
red | green
start begin | stop end finish
start resume | pause suspend
create | destroy delete
keep retain preserve | discard delete remove drop
keep | rename
keep | change
show visible display | hide hidden
lock locked | unlock unlocked
mutable changeable | immutable frozen fixed
sync synchronous blocking | async asynchronous nonblocking
parallel concurrent concurrently simultaneously | sequential sequentially serial serially
lazy lazily | eager eagerly
static statically | dynamic dynamically
strict | lenient loose relaxed
required mandatory compulsory | optional
required needed necessary | unnecessary needless redundant
public | private internal
internal | external
local | remote
local | global
explicit explicitly | implicit implicitly
manually | automatically
before | after
above over | below under
inside within | outside
up | down
upgrade | downgrade
increase raise grow higher | decrease reduce lower shrink
more | less fewer
max most | min least
many | few
first | last
early earlier | late later
new | old
newest latest | oldest
ascending | descending
forward | backward backwards
left | right
top | bottom
front | back
horizontal | vertical
input | output
push | pull
upload | download
import | export
encode | decode
encrypt encrypted | decrypt plaintext unencrypted
compress compressed | decompress uncompressed
serialise | deserialise
attach | detach
connect connected | disconnect disconnected
online | offline
mount | unmount
load | unload
bind | unbind
subscribe | unsubscribe
join | leave
merge combine | split separate
expand | collapse
fold | unfold
wrap | unwrap
publish | unpublish
register | unregister deregister
grant | revoke
promote | demote
commit | rollback revert
apply | revert undo
do | undo
success | failure
positive | negative
true correct right accurate | false wrong incorrect inaccurate
valid | invalid
safe secure | unsafe dangerous insecure risky
stable | unstable flaky
reliable dependable | unreliable flaky
deterministic | random flaky nondeterministic
fast quick | slow
cheap inexpensive | expensive costly
easy simple | hard difficult complex complicated
big large | small
long | short
high | low
wide | narrow
deep | shallow
full | empty
hot warm | cold
strong | weak
heavy | light
thick | thin
loud noisy verbose | quiet silent terse
clean | dirty
clear obvious | unclear obscure opaque vague
clear transparent | opaque
alive live | dead
active | inactive idle
busy | idle
same identical equal | different
single one | multiple several
monolith monorepo | microservices polyrepo
mutable | readonly
writable | readonly
stateful | stateless
nullable | required
relative | absolute
permanent | temporary
persistent durable survives | ephemeral transient volatile lost
blacklist denylist blocklist | whitelist allowlist
optin | optout
lowercase | uppercase
singular | plural
single | double
love like enjoy | dislike
like want | dislike
prefer | avoid
good great nice | bad poor awful terrible evil nasty
better | worse
best | worst
happy glad | sad unhappy
rich | poor
young | old
tall | short
near close | far distant
common usual frequent | rare unusual
often frequently usually | seldom rarely
always | rarely sometimes occasionally
everything all | nothing
everyone everybody | nobody
present available | absent missing unavailable
ready | unready
known | unknown
used | unused
supported | unsupported
tracked | untracked ignored
tested | untested
typed | untyped
signed | unsigned
sorted | unsorted random
cached | uncached
blocking | advisory
finished done complete | pending unfinished incomplete todo
alike | different
legal | illegal
normal | strange odd weird abnormal
natural | artificial
healthy | sick ill
sane | crazy insane mad
sure certain | unsure uncertain doubtful
possible | impossible
important significant crucial | trivial unimportant insignificant minor
major | minor
guilty | innocent
free | paid
smooth | rough
soft | hard
dry | wet
dark | bright light
awake | asleep
sit sitting | stand standing
accept | decline
agree | disagree
win | lose
buy | sell
find | lose
remember | forget
laugh | cry
give | take
lend | borrow
arrive | depart leave
enter | exit
rise | fall
cooked | raw
sharp | blunt dull
polite kind | rude mean
smart clever intelligent | stupid dumb
serious | frivolous funny
much | little
honest | dishonest
brave | cowardly
generous | stingy
interesting | boring
beautiful | ugly
"""

# Begin like a negation ("im-", "dis-") but are none.
NOT_NEGATED = (
    "import impact improve impress inform input inline install inside into index intend intent invent unit union "
    "until under display dispatch discover discount distinct disk discharge illustrate irrigate"
)

# Tools and values that take one another's place: two of one line in the same frame cannot both be current.
FAMILIES = {
    "JavaScript package manager": "npm yarn pnpm bun",
    "Python package manager": "pip pip-tools poetry pipenv uv conda mamba pdm hatch rye setuptools",
    "Ruby or PHP or JVM build": "bundler composer maven gradle sbt ant bazel buck pants",
    "bundler": "webpack vite rollup esbuild parcel turbopack rspack swc browserify metro",
    "JavaScript test runner": "jest vitest mocha jasmine ava karma",
    "browser tests": "playwright cypress selenium puppeteer webdriverio testcafe nightwatch",
    "Python test runner": "pytest unittest nose nose2 tox nox",
    "linter": "eslint tslint biome oxlint jshint standardjs pylint flake8 ruff rubocop golangci-lint staticcheck",
    "formatter": "prettier black yapf autopep8 ruff biome dprint gofmt gofumpt rustfmt clang-format",
    "import sorter": "isort ruff reorder-python-imports",
    "type checker": "mypy pyright pytype pyre basedpyright",
    "CI": "circleci travis jenkins github-actions gitlab-ci buildkite teamcity drone azure-pipelines bamboo",
    "database": "postgres mysql mariadb sqlite mongodb cockroachdb oracle dynamodb cassandra duckdb clickhouse sqlserver couchdb",
    "cache": "redis memcached valkey dragonfly hazelcast",
    "queue": "rabbitmq kafka sqs nats redpanda pulsar activemq celery sidekiq rq dramatiq huey kinesis pubsub",
    "cloud": "aws gcp azure digitalocean hetzner linode ovh",
    "hosting": "heroku vercel netlify render railway fly.io cloudflare",
    "object storage": "s3 gcs minio r2 disk",
    "orchestrator": "kubernetes nomad swarm ecs mesos docker-compose",
    "infrastructure code": "terraform pulumi cloudformation ansible chef puppet opentofu cdk",
    "containers": "docker podman containerd",
    "web framework, Python": "django flask fastapi starlette tornado bottle pyramid sanic litestar aiohttp",
    "web framework, Node": "express fastify koa hapi nestjs hono",
    "web framework, JVM": "spring quarkus micronaut ktor",
    "frontend framework": "react vue svelte angular solid preact ember",
    "meta framework": "nextjs nuxt remix astro gatsby sveltekit",
    "state": "redux zustand mobx recoil jotai pinia vuex",
    "styling": "tailwind bootstrap sass less styled-components emotion css-modules",
    "ORM": "sqlalchemy peewee tortoise prisma typeorm sequelize drizzle knex hibernate activerecord gorm sqlx diesel",
    "migrations": "alembic flyway liquibase dbmate",
    "logging": "structlog loguru winston pino bunyan log4j logback slf4j zap logrus zerolog",
    "HTTP client": "requests httpx aiohttp urllib3 axios fetch got superagent ky",
    "dates": "moment date-fns dayjs luxon arrow pendulum",
    "monitoring": "grafana datadog prometheus newrelic kibana splunk honeycomb",
    "error tracker": "sentry bugsnag rollbar airbrake",
    "search engine": "elasticsearch opensearch solr meilisearch typesense algolia",
    "web server": "nginx apache caddy traefik haproxy envoy",
    "app server": "gunicorn uvicorn hypercorn uwsgi waitress daphne",
    "editor": "vim neovim emacs vscode pycharm intellij sublime zed webstorm cursor helix",
    "shell": "bash zsh fish powershell",
    "indentation": "tabs spaces",
    "casing": "camelcase snake_case kebab-case pascalcase lowercase uppercase",
    "merge style": "squash rebase merge-commit fast-forward",
    "branching": "gitflow trunk-based",
    "version control": "git svn mercurial",
    "forge": "github gitlab bitbucket gitea",
    "tracker": "jira linear trello asana shortcut",
    "chat": "slack teams discord mattermost",
    "API style": "rest graphql grpc soap trpc",
    "data format": "json yaml toml xml ini protobuf msgpack avro csv parquet",
    "docs generator": "sphinx mkdocs docusaurus vitepress hugo jekyll",
    "task runner": "make just invoke rake gulp grunt",
    "hooks": "husky lefthook pre-commit lint-staged",
    "monorepo": "nx turborepo lerna rush",
    "version manager": "nvm fnm volta asdf mise pyenv",
    "runtime": "nodejs deno bun",
    "auth": "auth0 keycloak okta cognito clerk",
    "secrets": "vault sops doppler 1password",
    "validation": "pydantic marshmallow attrs zod yup joi",
    "log level": "debug info warning error critical trace",
    "day": "monday tuesday wednesday thursday friday saturday sunday",
    "month": "january february april june july august september october november december",
    "time zone": "utc localtime cet est pst gmt",
    "protocol": "http https tcp udp websocket mqtt amqp sse ftp sftp ssh",
    "address family": "ipv4 ipv6",
    "architecture": "x86 amd64 arm arm64 aarch64 riscv",
    "compression": "gzip brotli zstd deflate lz4 snappy bzip2",
    "hash": "md5 sha1 sha256 sha512 bcrypt argon2 scrypt pbkdf2 blake3",
    "key type": "uuid serial ulid snowflake autoincrement nanoid",
    "credentials": "jwt cookie oauth basic saml",
    "rendering": "ssr csr ssg isr",
    "encoding": "utf-8 utf-16 latin-1 ascii",
    "line ending": "lf crlf",
    "versioning": "semver calver",
    "concurrency": "thread process asyncio coroutine greenlet",
    "theme": "dark light",
    "pagination": "offset cursor keyset",
    "rollout": "blue-green canary rolling",
    "data type": "integer float decimal string boolean",
    "stream": "stdout stderr stdin",
    "package registry": "pypi npmjs artifactory nexus ghcr dockerhub ecr",
    "tracing": "jaeger zipkin tempo opentelemetry",
    "analytics": "amplitude mixpanel posthog segment plausible",
    "mail": "sendgrid postmark mailgun ses mailchimp",
    "payments": "stripe adyen braintree paypal",
    "mobile": "flutter react-native swiftui jetpack-compose xamarin ionic",
    "flags": "launchdarkly unleash flagsmith split.io growthbook",
    "branch": "main master develop trunk",
    "quotes": "single double",
    "programming language": (
        "python javascript typescript golang rust java kotlin swift ruby php scala elixir erlang haskell perl "
        "csharp c++ c# clojure dart lua zig fortran cobol"
    ),
    "natural language": "english german french spanish italian portuguese dutch japanese chinese korean russian",
    "operating system": "linux macos windows ubuntu debian alpine fedora arch freebsd",
    "colour": "black white yellow blue pink purple orange brown grey",
    "licence": "mit apache-2.0 gpl bsd agpl mpl",
}

# Two of one line are two matters: what holds for the one says nothing about the other.
SCOPES = {
    "environment": "production staging development preview sandbox qa uat local canary",
    "test kind": "unit integration e2e smoke regression acceptance performance",
    "side": "frontend backend mobile desktop infrastructure",
    "platform": "linux macos windows android ios",
    "direction": "read write connect",
    "message": "request response",
    "flow": "input output",
    "role": "client server worker scheduler",
    "end": "source target",
    "generation": "parent child",
    "transfer": "upload download",
    "reach": "public internal private",
    "account": "admin guest anonymous",
    "release": "patch minor major",
}

NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "sixteen": 16, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90, "hundred": 100, "once": 1, "twice": 2,
}  # fmt: skip
# How often is how long between.
FREQUENCIES = {
    "hourly": 3600, "daily": 86400, "nightly": 86400, "weekly": 604800, "fortnightly": 1209600, "monthly": 2592000,
    "quarterly": 7776000, "yearly": 31536000,
}  # fmt: skip
SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001, "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
    "min": 60, "mins": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
    "d": 86400, "day": 86400, "days": 86400, "week": 604800, "weeks": 604800, "month": 2592000, "months": 2592000,
    "year": 31536000, "years": 31536000,
}  # fmt: skip
BYTES = {
    "byte": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30,
    "tib": 2**40, "kilobytes": 10**3, "megabytes": 10**6, "gigabytes": 10**9,
}  # fmt: skip

NEGATIONS = (
    "not no never none nobody nothing neither without avoid forbid forbidden prohibit prohibited ban banned disallow "
    "disallowed lack lacks dislike dislikes hate hates refrain unable"
)
# What has ended is denied: as a state at any time ("is deprecated"), as an act only when it is past ("was removed").
ENDED_STATES = "gone deprecated discontinued obsolete retired decommissioned abandoned defunct ended eol"
ENDED_ACTS = "dropped removed deleted scrapped ditched"
CHANGES = "move migrate switch change rename upgrade transition convert port bump raise lower relocate swap"
EXCEPTIONS = "except unless excluding exempt"
PERMISSIONS = "may might allowed permitted optionally fine ok okay acceptable"
OWNERS = "own owner maintain review approve lead manage oncall assign contact"

# Words that say nothing by themselves.
STOP = (
    "person people someone somebody anyone user a an the this that these those there here it its he she we us our "
    "ours you your yours they them their i my me mine is are was were be been being am has have had having do does "
    "did can could will would shall should must may might ought of to in on at by for with from as into onto via per "
    "through using against between and or nor if then than when where while which who whom whose what how so such "
    "also too very quite really just still already again now currently today please always all any each every both "
    "some own enough anymore else even ever yet but because since however thus hence etc eg ie about around instead "
    "usually generally normally s re ve ll d m t time times everything everyone oh well hey thing kind whole entire "
    "overall simply ensure let"
)
# Words that may be opposed to others but whose absence or presence alone changes nothing.
LIGHT = (
    "use run live locate sit reside keep store set put get go make do need require handle serve reach contain have "
    "happen work call want like prefer perform carry find place move migrate switch change become appear exist before "
    "after inside outside above below under over within on up down allow permit done last new current actual expose "
    "bind available reachable accessible belong base save persist value default option setting provide give take come "
    "see look"
)
# Nouns that add nothing behind another ("the billing module"), though they tell apart in front of one ("module tests").
HEADS = (
    "file script directory team project code system endpoint module component helper function method piece"
)
# Verbs that end the subject of a statement wherever they stand…
VERBS = (
    "use run live listen own need require take keep hold contain expire skip retry return lead target pin scrape "
    "survive get go read write send receive default move switch migrate drop replace have serve reach store support "
    "depend maintain manage handle prefer like dislike want purge accept reject produce complain fail pass wake sleep "
    "work belong reside sit expect allow forbid generate become mean include exclude rely carry last"
)
# …and those that do so only as the first word, being names of things elsewhere.
COMMANDS = (
    "build test log cache commit merge release deploy index queue lock lint format bundle push pull call install "
    "check start stop avoid write make add remove enable disable set sort squash rebase put name document mock wrap "
    "import export prefix tag ship create delete update upgrade validate retry cut indent declare define describe "
    "limit restrict handle report raise throw catch return apply generate bump pin mark group split escape sanitize "
    "encrypt compress publish upload download host mount open close fetch load record assert cover prefer follow type "
    "typecheck benchmark profile rotate roll store"
)
