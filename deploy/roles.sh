#!/bin/sh
# Creates the two roles and the database. The passwords come from the environment of the database container.
set -eu
psql -v ON_ERROR_STOP=1 -v owner="${OWNER_PASSWORD:?}" -v server="${SERVER_PASSWORD:?}" -U postgres <<'SQL'
CREATE ROLE recollect_owner LOGIN PASSWORD :'owner';
CREATE ROLE recollect_server LOGIN PASSWORD :'server';
CREATE DATABASE recollect OWNER recollect_owner;
SQL
