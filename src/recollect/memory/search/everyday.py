"""What people mean by everyday words: who says "money back" is looking for what was written about refunds.

A line of the table ties everyday words to those the field has for the same thing: symptoms to causes, kinds of thing to
their products. It works one way only, as who asks for a "refund" knows the word. A line belongs here if it holds in
nearly any codebase; what no memory says costs nothing.
"""

from collections.abc import Mapping
from functools import cache

_TABLE = """
slow, sluggish, laggy, takes ages, takes forever, too long : performance, latency, lag, timeout, slower, bottleneck, p95, p99
speed, speed up, faster, quicker, quickly : performance, latency, cache, optimise, parallel, shard
performance : latency, p95, p99, slower, faster, cpu
frame rate, stutter, choppy : fps, render, gc
waits for ever, never finishes, never ends, never returns : timeout, deadlock, hang, loop
cpu, processor time : profile, pprof, performance, load
hang, hung, freeze, froze, frozen, stuck, stall, unresponsive : deadlock, lock, timeout, hang, idle
crowd, rush, peak, busy, spike, traffic, many users, many people, thousands of people : load, capacity, autoscaling, queue, concurrency, rps
overloaded, overwhelmed, collapse, falls over, under load : overload, capacity, backpressure, throttle, 503
handle more, more capacity, bigger load : scale, autoscaling, replicas, hpa, shard
many queries, too many queries, one query each : eager, prefetch, joinedload, selectinload

at once, at the same time, same moment, simultaneously, two people, two users : concurrent, race, lock, mutex, atomic, conflict, stampede
twice, two times, second time, doubled, repeatedly : duplicate, idempotency, idempotent, retry, dedupe, redeliver
wrong order, out of order, too early : ordering, sequence, race
overwritten, overwrite, clobbered, lost changes : conflict, lock, version, concurrent
halfway, half done, partly, all or nothing : transaction, atomic, commit, rollback, saga, resume
thread, threads : concurrency, lock, mutex, race, async
each other, interfere, step on : race, conflict, lock, isolation, shared

crash, dies, died, blows up, abort, killed : error, exception, oom, sigkill, panic, segfault
fail, failure, broken, does not work, doesn't work, stopped working : error, exception, bug, incident
complains, complaint, went wrong, goes wrong, mistake : error, exception, warning, raises
sometimes, now and then, occasionally, randomly, once in a while, intermittent, unreliable, unstable : flaky, race, retry
goes down, went down, is down, unavailable, outage : outage, incident, 503, failover, readiness
vanished, disappeared, missing, not there : 404, deleted, lost
refused, rejected, denied, turned away : 401, 403, forbidden, permission, unauthorized
too big, too large : 413, limit, size, payload
try again, once more, another attempt : retry, backoff, rerun, attempt
garbled, strange characters, weird characters : encoding, utf-8, charset, escape, unicode
what caused, why did it happen, culprit, to blame : incident, postmortem, root
way around, get around, bypass : workaround, override, exempt
pitfall, trap, surprise : gotcha, warning, careful
wrong, incorrect, not right : bug, error, fix, correction
warning, be careful, watch out, danger, dangerous : never, warning, gotcha, destroy
forbidden, not allowed, must not, may not, do not : never, forbidden, prohibited
repair, mend, cure : fix, hotfix, rebuild, patch
harmless, nothing to worry : harmless, ignore, expected
blank page, white page, white screen, nothing appears : error, hydration, 404, 500
not found, cannot find, can't find : 404, missing, path, import
infinite loop, for ever, endless : loop, redirect, recursion, retry
lost data, data loss, losing data, lose data : backup, restore, replication, wal, transaction
reproduce, happens again : reproduce, regression, repeat
number of decimals, precision : rounding, decimal, float

ram, eats memory, memory grows, memory usage : oom, heap, leak, memory
disk space, hard disk, run out of space, out of space : disk, volume, storage, quota
bloated, shrink, slim, smaller, too fat : size, compress, multi-stage, split
clean up, cleanup, tidy up, garbage : purge, prune, retention, ttl, delete
open files, file handles : nofile, ulimit, descriptor
full, fills up, filled up : disk, quota, limit, oom
unused, not needed, dead code, left over : unused, remove, dead, deprecated, orphan
archive, keep for : retention, archive, ttl

ship, publish, roll out, go live, put live, bring live, launch : deploy, release, rollout, tag, version, changelog
deployment, deploying : deploy, release, rollout, tag
undo, go back, back out, take back, previous version, earlier version : rollback, revert, restore, downgrade
urgent, quick fix, emergency fix, right away, asap : hotfix, patch, incident, cherry-pick
newer version, update to, new version, up to date : upgrade, version, bump, renovate
without downtime, nobody notices, no interruption, seamless, uninterrupted : expand, contract, blue/green, rolling, dual-write, downtime
gradually, step by step, few users, some users, small group, pilot, trial : rollout, phased, canary, beta, flag
weekend, friday, holidays, christmas : freeze, deploy, schedule
get ready, prepare, preparation, big day : checklist, runbook, warm, freeze
version number, numbering : version, semver, calver, tag
stop deployments, no deployments, when may we deploy, when can we deploy : freeze, deploy, window
who deploys, push to production, bring to production : deploy, prod, tag, release, argocd
release notes, what changed : changelog, changeset, release
old phones, old devices, old browsers, older versions : compatibility, support, legacy, polyfill
compatible, works with : compatibility, version, contract, semver
phase out, retire, sunset, end of life : deprecated, legacy, remove, migrate

build machine, build server, build agent, build machines : runner, ci, agent
continuous integration, automatic checks, red build, build is red, build fails, build breaks : ci, pipeline, workflow, job, check
test data, sample data, example data : seed, fixture, factory
fake, stand-in, pretend : mock, stub, fixture
click through, browser test, user journey, ui test : e2e, playwright, cypress, selenium, detox
compare pictures, looks the same, pixel : snapshot, golden, visual, screenshot
load test, stress test : k6, locust, benchmark, gatling
reuse, reused, saved earlier, keep results : cache, artifact, memoize
test runner, unit test, unit tests : pytest, jest, vitest, junit, suite
coverage, untested : test, coverage, suite
slow tests, tests take long, test run : shard, parallel, xdist, split, suite
skip the test, turn off the test, ignore the test : skip, xfail, flaky, quarantine
same result, deterministic, reproducible : seed, fixture, freeze, lockfile, pinned
clean state, isolated : fixture, isolation, testcontainers, transaction

my machine, my computer, own machine, own computer, laptop, locally : local, localhost, local-dev, dev
set up, getting started, new colleague, new hire, newcomer, first day, from scratch : onboarding, bootstrap, setup, install, seed, clone
which address, where does it run, usual port, open in the browser : port, localhost, url
windows, pc : crlf, wsl, powershell
mac, macbook, apple computer : macos, darwin, brew, arm64
emulator, simulator : android, ios, localhost, emulator
vpn, company network, office network : vpn, proxy, firewall, port
command, shortcut, which command, what do i run : make, script, cli, target
editor, ide : vscode, lsp, settings

login, log in, logging in, sign in, signing in, log on, sign on : auth, session, token, sso, cookie, oauth, jwt
authentication, authenticate : token, jwt, session, login, oauth, cookie
logged out, log out, sign out, thrown out, kicked out : session, token, refresh, logout, expired, revoke
password, passphrase : credential, auth, hash, argon2, bcrypt
company account, work account, corporate login : sso, saml, oidc, identity
allowed to, who may, who can, rights, access rights : permission, authorization, role, scope, allowlist
someone else, somebody else, another person, other people's, strangers, another user : authorization, idor, owner, tenant, leak
pretend to be, act as, on behalf : impersonation, sudo, audit
no longer valid, cancelled, take away access, blocked : revoke, expire, void, blocklist
two factor, second factor, one-time code : 2fa, mfa, totp, otp
register, sign up, new account, create an account : signup, registration, onboarding, user
stay logged in, remember me : refresh, session, cookie, token
machine to machine, service account, technical user : token, api key, credential, device
admin, administrator, back office : admin, role, dashboard, permission
stolen, theft, leaked, exposed, got out : leak, revoke, rotate, secret, security

attack, attacker, hacker, hacked, malicious : security, xss, csrf, injection, pentest, vulnerability
robots, bots, scraper, scalper, automated visitors : bot, captcha, rate-limit, abuse, fraud
cheat, forged, forgery, counterfeit, copied : fraud, signature, signed, hmac
api key, confidential, credentials, passwords : secret, credential, vault, token, env
encrypted, encryption, trusted, don't trust, doesn't trust, untrusted : tls, ssl, certificate, cert, verify
expire, runs out, run out, ran out, renew : expiry, ttl, certificate, renewal, rotate
too often, too many requests, throttled : rate-limit, 429, throttle, bucket, quota
another domain, other domain, other website, different domain : cors, origin, csrf, samesite, cross-site
user input, pasted html, text from users : xss, sanitise, escape, allowlist, validation
spy, eavesdrop, intercepted : tls, encryption, security
penetration test, security audit, security check : pentest, security, finding
spam, junk : spam, filter, captcha, abuse
signed, tampered, genuine, authentic : signature, hmac, verify, key

personal data, private data, privacy, sensitive data : pii, gdpr, privacy, redact, hashed, anonymise
law, lawyer, regulation, authorities, regulator : legal, gdpr, compliance, contract
who changed, who did, trail, traceable : audit, audit_log, history
delete my account, forget me, right to be forgotten : gdpr, erasure, anonymise
consent, cookie banner, tracking : gdpr, consent, cookie, privacy, analytics
licence, license, open source : license, legal, dependency

money, amount, cash, sum : currency, minor, cents, decimal, rounding
cent, penny, pennies, small difference, add up, off by one : rounding, minor, decimal, ledger
money back, give back, pay back, get back, reimburse, returned money : refund, chargeback, reversal
pay, paying, buy, buying, purchase, bought : payment, checkout, charge, order, stripe
credit card, card payment, bank card : payment, stripe, 3ds, charge
payment provider, payment company, payment service : stripe, adyen, paypal, acquirer
get paid, paid out, receive their money, get their money, earnings : payout, settlement, transfer
tax, taxes : vat
bookkeeping, accounting, accountant, books : ledger, finance, entry, balance
bill, invoice, save money, cheaper, spend : cost, billing, invoice, budget
what it costs, how much, prices, costs : price, pricing, fee, cost
extra charges, surcharge, hidden costs : fee, fees
discount, coupon, gift card : voucher, promo
basket, shopping cart, cart, till : checkout, order
reserve, reserved, reservation, set aside : hold, lock, booking
customer, buyer, visitor, shopper, guest, client : user, customer, buyer
supplier, partner, third party, vendor : supplier, vendor, partner, integration
resell, sell on, second-hand : resale, transfer
subscription, monthly plan : billing, renewal, plan
profit, revenue, turnover, sales : revenue, orders, report, ledger
pay later, instalments, failed payment, payment failed, declined : payment, retry, dunning, charge, intent
exchange rate, foreign currency, dollars, euros, yen : currency, minor, exponent, rate
stock, in stock, sold out, left over : inventory, availability, stock
parcel, delivery, shipping : shipping, carrier, fulfilment, delivery
appointment, time slot : booking, calendar, slot
transfer, wire : sepa, payout, settlement

mail, e-mail, inbox, letter, newsletter : email, mail, smtp, ses, outbox, sendgrid
notify, inform, remind, reminder : notification, push, email, alert
text message : sms, push, notification
callback, gets called, called back : webhook, event, hook
chat, live updates, as it happens, real time, realtime : websocket, sse, stream, push
mail template, template : mjml, jinja, html
unsubscribe, opt out : unsubscribe, preference, suppression
bounce, not delivered, undeliverable : bounce, suppression, ses, smtp
talk to each other, communicate, services talk : api, grpc, kafka, event, contract
subscribe, listen for, react to : event, consumer, webhook, kafka, listener

attachment, document : file, upload, pdf, storage
picture, photo : image, media, upload, jpg, resize
printable, printout, on paper, print out : pdf, print, render
spreadsheet, excel : csv, export, xlsx, report
send a file, hand in a file : upload, multipart, s3
object storage, file storage, bucket : s3, gcs, blob
video, film, sound : media, stream, codec, transcode
thumbnail, smaller picture, resize : image, resize, sharp
compressed, zipped : gzip, zstd, compress
barcode, qr code : qr, barcode, scan

look up, find things, search engine, full text : search, index, elasticsearch, opensearch, meilisearch, algolia
search results, order of results : ranking, relevance, search
typo, misspelt, misspelled, mistyped : fuzzy, spelling, typo
page by page, next page, long list : pagination, cursor, offset
suggestions while typing, autocomplete : autocomplete, prefix, search, debounce
filter, narrow down : filter, facet, query
map, location, nearby : geo, coordinates, postgis, geometry

database, data store : postgres, mysql, sqlite, mongodb, rds, sql, schema
add a column, new column, change a table, add a field, new field, data model, table structure : migration, schema, alter, alembic, column
rename, renamed : migration, expand, contract, alias
fill in, existing rows, old rows, old data, historical data, recompute, recalculate : backfill, batch, migration, reprocess
copy of the database, second database, read copy, read only : replica, replication, lag
can't connect, cannot connect, can't reach, cannot reach, no connection, not reachable : connection, port, refused, network, firewall
open connections, too many connections : pool, pgbouncer, connection
stored procedure, raw sql, handwritten sql : sql, query, orm
planned work, maintenance window, maintenance : downtime, upgrade, silence, freeze
safety copy, save a copy, backups : backup, snapshot, restore, dump
wipe, erase, throw away, get rid of, empty the : delete, drop, purge, flush, truncate
object relational, query builder : orm, sqlalchemy, prisma, hibernate
big table, huge table, million, millions of rows : partition, index, batch, backfill
slow query, query is slow, full scan : index, explain, planner, analyze, seq
unique, no duplicates : unique, constraint, dedupe
foreign key, relation, belongs to : constraint, foreign, cascade, join
changes to the schema, schema change, change the schema, database change : migration, alembic, flyway, lock
default value, not null : migration, default, null, backfill
long running transaction, open transaction : idle, transaction, session, lock
cleaned data, duplicates in the data : dedupe, distinct, unique
key value store, in-memory store : redis, memcached, ttl

outdated, out of date, old value, still shows, still see, not updated, old version : cache, stale, invalidate, revalidate, ttl, purge
cache, caching, cached : ttl, redis, stale, invalidate, cdn
content delivery, in front of the site : cdn, cloudflare, cloudfront, fastly, akamai

background, behind the scenes, later on : job, worker, queue, async, celery, cron
every night, overnight, every day, every week, regularly, periodically : nightly, cron, schedule, beat, airflow
line up, waiting line, stand in line : queue, waiting, backlog
message broker, message queue, event bus : kafka, rabbitmq, redis, sqs, celery
in parallel, split the work : shard, worker, parallel, concurrency
batch, in bulk, all in one go : batch, bulk, copy, chunk
events get lost, missed events, lost messages : outbox, retry, ack, redeliver, offset
poison, keeps failing, fails again and again : retry, dead-letter, dlq, backoff

o'clock, clock, wrong hour, wrong day, wrong date, summer time, winter time, daylight saving : timezone, utc, dst, clock, offset
local time, time of day, time difference : timezone, utc, tz
how long, until when : ttl, timeout, deadline, retention, duration
countdown, stopwatch : timer, deadline, ttl
midnight, end of the day, daily figures : utc, timezone, date, cutoff
calendar, opening hours, business hours, quiet : schedule, timezone, hours
birthday, age : date, pii, personal

language, languages, translate, translated, foreign : i18n, locale, translation, l10n
wording, phrasing, text on the page, texts : copy, i18n, translation
singular, plural : plural, icu, i18n
spelling, british, american : spelling, style, copy, locale
right to left, arabic : rtl, i18n, locale

button, colour, color, design, appearance, layout : ui, component, css, tokens, design-system, tailwind
website, web page, front end, web site : web, frontend, browser, react, next
blind, screen reader, keyboard only, impaired, disabled people : a11y, accessibility, aria
flicker, jumps around, looks different : hydration, render, layout
draw, drawn, drawing : render, canvas, svg
web framework : fastapi, django, flask, rails, express, next
popup, dialog, overlay : modal, dialog, ui
double click, clicks twice, pressed twice : idempotency, disable, debounce, state
dark mode, theme : theme, tokens, css, dark
spinner, loading : loading, state, suspense, skeleton
refresh the page, reload the page : cache, revalidate, reload, state
back button, comes back from, redirected : redirect, session, state, query
search engines, google results : seo, sitemap, canonical, ssr
icons, fonts : assets, svg, font, css

phone, iphone, smartphone, tablet, android : mobile, ios, android, app
app store, play store : release, testflight, submit, bundle
without internet, no internet, no network, no signal, bad connection, weak connection, poor network : offline, sync, retry, network
bring up to date, catch up, synchronise : sync, merge, conflict
gadget, hardware : device, handheld, scanner
battery, power saving : battery, doze, background
camera, bluetooth, native : native, permission, module
firmware, embedded : firmware, ota, flash, device
update over the air, without the store : ota, expo, runtime

server, servers : host, node, pod, instance, cluster
cloud, infrastructure : infra, terraform, aws, gcp, azure, cluster
container, containers, virtual machine : docker, image, pod, kubernetes
orchestration, cluster : kubernetes, k8s, helm, pod, namespace
in front of, entry point : proxy, edge, gateway, ingress, nginx
start up, starts up, boot, comes up, start time : startup, ready, readiness, boot
alive, healthy, health check : health, readiness, liveness, probe
chip, processor, processors : arm64, x86, cpu, arch
test system, test environment, trial system : staging, preview, sandbox
live system, real system, real users, for real : prod, production
domain name, name server : dns, domain, host
environment variable, environment variables : env, config, secret
region, data centre, data center, continent : region, residency
kubernetes : pod, helm, hpa, cluster, namespace, ingress
restart, reboot, reload : restart, reload, rollout
several copies, instances, more machines : replicas, hpa, pod, autoscaling
drift, out of sync : drift, terraform, sync, plan
infrastructure as code : terraform, pulumi, helm, ansible
locked, still locked, lock left behind : lock, unlock, force-unlock, state
turn on, turn off, turned on, turned off, switch on, switch off, switched off, toggle, enable, disable : flag, feature flag, toggle, unleash, launchdarkly
setting, option, adjust, configure, configuration : config, env, values, settings, variable

what happened, find out, investigate, look into : trace, log, debug, span, audit
keep an eye, graphs, charts : monitoring, metrics, alert, dashboard, grafana
alarm, woken up, wake up, at night, pager : alert, on-call, oncall, slo, page
whom to ask, who knows, who is responsible, in charge, contact person, who do i ask : owner, owns, on-call, lead
noise, noisy, false alarm : silence, ignore, filter, exclude, harmless
service level, how good : slo, sla, target, budget
error tracker, error tracking : sentry, rollbar, bugsnag
monitoring : grafana, prometheus, datadog, metrics, alert
quiet hours, do not disturb, mute : silence, quiet, mute, notification
dashboard : grafana, metrics, panel
log files, log output, console output : log, logging, loki, structlog, print
response time, time to answer : latency, p95, p99, slo
timeline, chain of calls, across services : trace, span, otel
after an incident, lessons learned, lesson : postmortem, incident, insight

error response, failure response, error message : error, exception, problem
breaking change, incompatible : contract, schema, deprecated, version
generated code, code generation : codegen, openapi, client, generated
library, libraries, pull in, third-party code : dependency, package, install, lockfile
package manager : npm, pnpm, yarn, pip, uv, poetry, cargo
formatter, formatting, indentation : format, ruff, black, prettier, gofmt, lint
linter, static analysis : lint, ruff, eslint, mypy, golangci-lint
what name, naming, terminology, right word : naming, convention, glossary, named
remark, explanation in the code : comment, docstring
manual, handbook, guide, wiki : docs, documentation, readme, runbook
reviewer, approve, approval, code review : review, pr, reviewer
change request, submit a change, hand in : pr, review, merge
wrong input, check the input : validation, schema, validate, pydantic
statistics, monthly overview, management wants : metrics, report, analytics, dashboard
data warehouse, analysts, analytics : warehouse, bigquery, dbt, snowflake, redshift
move data, copy data, data flow : pipeline, etl, sync, cdc, export, kafka, airflow
maximum, at most, how many : limit, max, cap, quota
programming language, rewritten : python, go, rust, typescript, java
type hints, typing, type checker : mypy, pyright, types, dataclass, pydantic
folder, where is the code, where does it live, project structure, layout of the code : directory, monorepo, layout, module, path
copy and paste, duplicated code, same code twice : duplicate, shared, refactor, package
global state, singleton : global, state, inject
split up, break up, large change, big change : split, stack, size, pr
commit message, commit messages, git history : commit, git, imperative, message
merge conflict, conflicts : git, merge, rebase, conflict
broke the client, clients break, mobile breaks : contract, openapi, version, client
return value, answer of the server, response : response, json, status, http
rest, graphql : api, rest, graphql, endpoint
date format, number format : format, locale, i18n, date
temporary, for now, for the moment : temporary, workaround, todo, flag

why did we choose, why don't we use, instead of, why not : decision, adr
ways to solve, ideas, suggestions, alternatives : propose, alternatives, options, proposal
left to do, still missing, still to do, unfinished, what is left, not finished : progress, todo, remaining
next weeks, priorities, coming months : roadmap, quarter, focus
ask first, without asking, permission to : ask, confirm, before, approval
short answer, keep it short, long-winded, summary of what you did : brief, recap, reply
how do you like, how do you want, what do you prefer, my taste : preference, prefer, style
why was it done, what was the reason, reason behind : decision, because, adr
agreed, agreement, rule : convention, decision, policy
trade-off, pros and cons, compare : decision, alternatives, versus
who decided, who wanted : decision, owner, asked
colleague : team, owner, lead
"""


@cache
def meanings() -> Mapping[str, tuple[str, ...]]:
    """By everyday word or phrase, the words of the field for it."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _TABLE.splitlines():
        said, _, meant = line.partition(" : ")
        for each in said.split(", ") if meant else ():
            found[each] = (*found.get(each, ()), *meant.split(", "))
    return found
