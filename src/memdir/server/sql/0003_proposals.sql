-- What a reader would change: a member proposes, a maintainer decides.
create table proposal (
  id bigint generated always as identity primary key,
  space bigint not null references space,
  items jsonb not null, -- as they would be pushed
  author text not null,
  at timestamptz not null default now(),
  state text not null default 'open' check (state in ('open', 'accepted', 'rejected')),
  decided_by text
);
create index proposal_space on proposal (space, id);
alter table proposal enable row level security;
alter table proposal force row level security;
create policy owner on proposal to memdir_owner using (true) with check (true);
create policy see on proposal for select to memdir_app
  using (space = any ((select mine())::bigint[]));
create policy add on proposal for insert to memdir_app
  with check (space = any ((select mine())::bigint[]) and author = (select my_name())
              and state = 'open');
create function mine_to_decide() returns bigint[] language sql stable security definer
  set search_path = memdir, pg_temp as
  $$ select coalesce(array_agg(space), '{}') from member
     where person = me() and role = 'maintainer' $$;
create policy decide on proposal for update to memdir_app
  using (space = any ((select mine_to_decide())::bigint[]))
  with check (decided_by = (select my_name()));
grant select, insert on proposal to memdir_app;
grant update (state, decided_by) on proposal to memdir_app;

create function proposals(given bytea, in_space text, out status int, out answer text)
language plpgsql as $$
declare wanted bigint;
begin
  status := 401;
  if enter(given) is null then return; end if;
  status := 404;
  select id into wanted from space where name = in_space;
  if wanted is null then return; end if;
  status := 200;
  select json_build_object('proposals', coalesce(json_agg(json_build_object('id', id,
      'items', items, 'author', author, 'at', at) order by id), '[]'::json))::text into answer
    from (select p.*, sum(octet_length(items::text)) over (order by id)
                 - octet_length(items::text) as bytes_before
          from proposal p where space = wanted and state = 'open' order by id limit 100) page
    where bytes_before < 1000000;
end $$;

create function propose(given bytea, in_space text, items jsonb, out status int, out answer text)
language plpgsql as $$
declare
  wanted bigint;
  number bigint;
begin
  status := 401;
  if enter(given) is null then return; end if;
  status := 404;
  select id into wanted from space where name = in_space;
  if wanted is null then return; end if;
  -- The same proposal sent again after a time-out is the same proposal.
  select id into number from proposal p where p.space = wanted and p.state = 'open'
    and p.author = my_name() and p.items = propose.items limit 1;
  if number is null then
    insert into proposal (space, items, author) values (wanted, items, my_name())
      returning id into number;
    insert into audit (person, act, space, detail)
      values (my_name(), 'propose', in_space, jsonb_build_object('id', number));
  end if;
  status := 200;
  answer := json_build_object('id', number)::text;
end $$;

create function decide(
  given bytea, in_space text, number bigint, accepted boolean, out status int, out answer text
) language plpgsql as $$
declare chosen proposal;
begin
  status := 401;
  if enter(given) is null then return; end if;
  status := 404;
  select p.* into chosen from proposal p join space s on s.id = p.space
    where s.name = in_space and p.id = number;
  if chosen.id is null then return; end if;
  status := 403;
  if not chosen.space = any (mine_to_decide()) then return; end if;
  perform from proposal where id = number for update; -- two maintainers at once: one decides
  select * into chosen from proposal where id = number;
  if chosen.state = 'open' then
    if accepted then
      select p.status, p.answer into status, answer from push(given, in_space, chosen.items, '') p;
      if status <> 200 then return; end if;
    end if;
    chosen.state := case when accepted then 'accepted' else 'rejected' end;
    update proposal set state = chosen.state, decided_by = my_name() where id = number;
    insert into audit (person, act, space, detail) values (my_name(), 'decide', in_space,
      jsonb_build_object('id', number, 'state', chosen.state, 'author', chosen.author));
  end if;
  status := 200;
  answer := json_build_object('id', number, 'state', chosen.state)::text;
end $$;

revoke execute on function mine_to_decide(), proposals(bytea, text),
  propose(bytea, text, jsonb), decide(bytea, text, bigint, boolean) from public;
grant execute on function mine_to_decide(), proposals(bytea, text), propose(bytea, text, jsonb),
  decide(bytea, text, bigint, boolean) to memdir_app;
