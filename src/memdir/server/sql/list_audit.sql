-- Of one space or of one act, the newest first.
select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, person, act,
       coalesce(space, '') as space, detail
from audit
where %(space)s in ('', space) and %(act)s in ('', act)
order by id desc limit %(limit)s
