-- SessionKit, row security for PostgreSQL 11 and later, as an option. Repeatable. Run it after schema-postgresql.sql,
-- as the role that owns the tables. For another table prefix, edit a copy of this file.
--
-- Roles that are granted to read the tables see the rows of one owner: the one in the setting sessionkit.owner of
-- their transaction. Without the setting they see no row. They insert, update and delete none, whatever they are
-- granted; truncate is not subject to row security, so grant select alone.
-- The role that owns the tables is not limited and pays nothing; neither are roles that inherit from it, superusers,
-- roles with BYPASSRLS, and views that the owner has unless they are security_invoker.
--
-- If SessionKit connects as another role than the owner of the tables, that role needs all rows of each table. Create
-- such a policy for each of the four tables before you run this:
--   create policy SESSIONKIT_STORE on SESSIONKIT_SESSION to my_role using (true) with check (true);

alter table SESSIONKIT_SESSION enable row level security;

alter table SESSIONKIT_TURN enable row level security;

alter table SESSIONKIT_ITEM enable row level security;

alter table SESSIONKIT_RECORD enable row level security;

-- An empty setting is none: PostgreSQL leaves an empty text where a transaction has ended that had set it.
-- The sessions of nobody, whose owner is empty, are not shown to anybody.
drop policy if exists SESSIONKIT_OWNER on SESSIONKIT_SESSION;

create policy SESSIONKIT_OWNER on SESSIONKIT_SESSION for select using (
	owner_hash = encode(sha256(convert_to(nullif(current_setting('sessionkit.owner', true), ''), 'UTF8')), 'hex')
);

-- The sessions that the subquery finds are those that the policy above shows.
drop policy if exists SESSIONKIT_OWNER on SESSIONKIT_TURN;

create policy SESSIONKIT_OWNER on SESSIONKIT_TURN for select using (
	session_pk in (select pk from SESSIONKIT_SESSION)
);

drop policy if exists SESSIONKIT_OWNER on SESSIONKIT_ITEM;

create policy SESSIONKIT_OWNER on SESSIONKIT_ITEM for select using (
	session_pk in (select pk from SESSIONKIT_SESSION)
);

drop policy if exists SESSIONKIT_OWNER on SESSIONKIT_RECORD;

create policy SESSIONKIT_OWNER on SESSIONKIT_RECORD for select using (
	session_pk in (select pk from SESSIONKIT_SESSION)
);
