/**
 * Puts a fault back into the code under test: in files as they are loaded, and in functions of the database. A text
 * that is not there any more is an error: then the fault cannot be put back so, and the proof is to be written anew.
 */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FUNCTIONS_SCHEMA } from '../../../src/db/functions.ts'

const ROOT = join(import.meta.dirname, '../../..')

interface Replacement {
  readonly find: string
  readonly replace: string
}

const notLoaded = new Set<string>()

/** Throws where a file that is to have a fault was never loaded. */
export function assertPutBack(): void {
  if (notLoaded.size > 0) throw new Error(`never loaded: ${[...notLoaded].join(', ')}`)
}

/** In a source file, from its next import on: of a process that has not loaded it. */
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

/** Statements that do it in a function, for `prepare` of a world. */
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
