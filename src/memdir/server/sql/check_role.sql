-- What the server's role is, also by the roles that it is a member of.
select current_user, bool_or(r.rolsuper), bool_or(r.rolbypassrls), bool_or(r.rolcreaterole),
       bool_or(r.rolname = 'memdir_owner')
from pg_roles r where pg_has_role(current_user, r.oid, 'member')
