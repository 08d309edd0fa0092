#!/bin/sh
# Creates the two roles and the database. The passwords come from the environment of the database container.
set -eu
psql -v ON_ERROR_STOP=1 -U postgres <<SQL
CREATE ROLE recollect_owner LOGIN PASSWORD '${OWNER_PASSWORD:?}';
CREATE ROLE recollect_server LOGIN PASSWORD '${SERVER_PASSWORD:?}';
CREATE DATABASE recollect OWNER recollect_owner;
SQL
