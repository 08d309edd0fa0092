-- Pages have checksums from this version on (docs/decisions/0037-pages-have-checksums.md). The schema is the same: the version
-- keeps an older Recollect, which is still running or is started again, from writing pages without them.
SELECT 1;
