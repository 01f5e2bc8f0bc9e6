import { sql } from 'kysely'
import type { Database } from '../../../src/platform/db/open.ts'

export interface Change {
  readonly table: string
  /** Before or after the change. */
  readonly row: Readonly<Record<string, unknown>>
}

/** From here on, triggers of all tables record each row that changes. */
export async function watchChanges(db: Database): Promise<void> {
  await sql
    .raw(
      `create table seen_changes (table_name text, row_json jsonb);
      create function see_change() returns trigger language plpgsql as $$ begin
        if tg_op <> 'INSERT' then insert into seen_changes values (tg_table_name, to_jsonb(old)); end if;
        if tg_op <> 'DELETE' then insert into seen_changes values (tg_table_name, to_jsonb(new)); end if;
        return null;
      end $$;
      do $$ declare t text; begin
        for t in select relname from pg_class
          where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
            and relname not in ('seen_changes', 'rate_windows')
        loop
          execute format('create trigger see_change after insert or update or delete on %I
            for each row execute function see_change()', t);
        end loop;
      end $$`,
    )
    .execute(db)
}

/** Those since the last call. */
export async function takeChanges(db: Database): Promise<readonly Change[]> {
  const { rows } = await sql<Change>`
    delete from seen_changes returning table_name as "table", row_json as row`.execute(db)
  return rows
}
