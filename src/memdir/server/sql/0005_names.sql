-- A name with joined and with separate accents is one file on some disks, like names that differ in
-- case. Where both stand already, the newest keeps its name and the others get a number.
do $$ declare
  twin record;
  newest bigint;
  beside text;
begin
  for twin in
    select m.* from memory m where m.body is not null and exists (
      select from memory o where o.space = m.space and o.seq > m.seq and o.body is not null
        and lower(normalize(o.path)) = lower(normalize(m.path)))
  loop
    update space set seq = seq + 2 where id = twin.space returning seq into newest;
    beside := regexp_replace(normalize(twin.path), '(\.[a-z]+)$', '-' || newest || '\1');
    insert into version (space, path, version, hash, body, author, at) values
      (twin.space, twin.path, twin.version, twin.hash, twin.body, twin.author, twin.at);
    update memory set body = null, hash = '', version = version + 1, seq = newest - 1, push = ''
      where space = twin.space and path = twin.path;
    insert into memory (space, path, version, seq, hash, body, author, at) values
      (twin.space, beside, 1, newest, twin.hash, twin.body, twin.author, twin.at);
  end loop;
end $$;
drop index memory_case;
create unique index memory_name on memory (space, lower(normalize(path))) where body is not null;
