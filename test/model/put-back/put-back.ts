/**
 * Puts a fault back into the code under test: into files as they are loaded, and into functions of the database. If
 * the text to replace no longer exists, it throws: the proof must then be rewritten.
 */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FUNCTIONS_SCHEMA } from '../../../src/platform/db/functions.ts'

const ROOT = join(import.meta.dirname, '../../..')

interface Replacement {
  readonly find: string
  readonly replace: string
}

const notLoaded = new Set<string>()

/** Throws if a file that should contain a fault was never loaded. */
export function assertPutBack(): void {
  if (notLoaded.size > 0) throw new Error(`never loaded: ${[...notLoaded].join(', ')}`)
}

/** Into a source file, before this process imports it for the first time. */
export function putBackIntoFile(path: string, { find, replace }: Replacement): void {
  notLoaded.add(path)
  const url = pathToFileURL(join(ROOT, path)).href
  registerHooks({
    load(loaded, context, nextLoad) {
      const result = nextLoad(loaded, context)
      if (loaded !== url) return result
      const source = Buffer.from(result.source as Uint8Array).toString()
      notLoaded.delete(path)
      if (!source.includes(find)) throw new Error(`${path} does not have: ${find}`)
      return { ...result, source: source.replace(find, () => replace) }
    },
  })
}

/** Statements that put the fault into a function, for `prepare` of a world. */
export function putBackIntoFunction(name: string, replacements: readonly Replacement[]): string {
  const steps = replacements.map(({ find, replace }) => {
    const [from, to] = [quoted(find), quoted(replace)]
    return `if position(${from} in f) = 0 then raise exception '${name} does not have: %', ${from}; end if;
      f := replace(f, ${from}, ${to});`
  })
  return `do $put_back$ declare f text; begin
    perform set_config('search_path', '${FUNCTIONS_SCHEMA}, public', true);
    select pg_get_functiondef(oid) into strict f from pg_proc
    where proname = '${name}' and pronamespace = '${FUNCTIONS_SCHEMA}'::regnamespace;
    ${steps.join('\n')}
    execute f;
  end $put_back$;\n`
}

const quoted = (text: string): string => `$text$${text}$text$`
