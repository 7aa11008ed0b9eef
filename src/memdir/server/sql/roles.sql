-- Two roles of the whole cluster, made once. The owner has the tables and cannot log in; the
-- application logs in, owns nothing and is under row-level security like anybody else.
do $$ begin
  if not exists (select from pg_roles where rolname = 'memdir_owner') then
    create role memdir_owner nologin nosuperuser nocreatedb nocreaterole nobypassrls;
  end if;
exception when duplicate_object or unique_violation then null; -- another init was faster
end $$;
do $$ begin
  if not exists (select from pg_roles where rolname = 'memdir_app') then
    create role memdir_app login nosuperuser nocreatedb nocreaterole nobypassrls noinherit;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
