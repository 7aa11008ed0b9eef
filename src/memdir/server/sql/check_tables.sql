-- Tables that row-level security does not hold.
select string_agg(c.relname, ', ' order by c.relname) from pg_class c
where c.relnamespace = 'memdir'::regnamespace and c.relkind in ('r', 'p')
  and c.relname <> 'migration' and not (c.relrowsecurity and c.relforcerowsecurity)
