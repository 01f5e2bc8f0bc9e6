/**
 * The tier of a test file follows from its imports, direct ones or through the helpers in `test`: `processes` if one of
 * them starts processes (`STARTS_PROCESSES`), `database` if one is `test-database.ts`, `sockets` if one may open a
 * socket (`OPENS_SOCKETS`), and `unit` otherwise. `stay-in-tier.ts` ends a test that leaves its tier in another way.
 *
 * Apart from its tier, a file whose first line is `// deep: <why>` is left out of `npm test`, and `npm run test:deep`
 * runs it: one that starts processes, attacks, generates requests, or walks all formats, providers, routes or fields.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const TIERS = ['unit', 'sockets', 'database', 'processes'] as const
export type Tier = (typeof TIERS)[number]

export interface Placed {
  /** From the root of the project, as all paths here. */
  readonly file: string
  readonly tier: Tier
  /** The server of the run; not used if a file of the tier `processes` starts its own. */
  readonly needsDatabase: boolean
  /** It concerns all modules of its process (`OF_ALL_MODULES`), so it shares that with no other file. */
  readonly isAlone: boolean
  readonly isDeep: boolean
}

const TEST_DATABASE = 'test/harness/test-database.ts'
const STARTS_PROCESSES = [
  'node:child_process',
  'node:cluster',
  'src/platform/db/embedded.ts',
  // The compiler, a separate program.
  'typescript/unstable/sync',
]
const OPENS_SOCKETS = [
  'node:dgram',
  'node:http',
  'node:https',
  'node:net',
  'node:tls',
  'fastify',
  'src/sandbox/upstream/start-sandbox-upstream.ts',
  'test/harness/sandbox-processor.ts',
]
/** How modules are loaded; and counts over all loaded ones, which take longer the more there are. */
const OF_ALL_MODULES = ['node:module', 'node:inspector']
const DEEP = /^\/\/ deep: \S/
/** `import type` and `export type` vanish before anything runs. */
const IMPORT =
  /^(?:import|export)\s(?!type\s)[^;'"`]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

export function createTierReader(root: string): (file: string) => Placed {
  const imports = new Map<string, readonly string[]>()

  function importsOf(file: string): readonly string[] {
    const known = imports.get(file)
    if (known) return known
    const text = readFileSync(join(root, file), 'utf8')
    const found = [...text.matchAll(IMPORT)].map(([, from, bare, dynamic]) => {
      const target = from ?? bare ?? dynamic ?? ''
      return target.startsWith('.') ? join(dirname(file), target) : target
    })
    imports.set(file, found)
    return found
  }

  return (file) => {
    const seen = new Set([file])
    // A set that grows while it is walked is walked to its end.
    for (const path of seen) {
      // The program may start processes: only a test that asks it to is of another tier.
      const isOfTests = path === file || !path.startsWith('src/')
      if (isOfTests && path.endsWith('.ts')) for (const target of importsOf(path)) seen.add(target)
    }
    const reaches = (targets: readonly string[]): boolean =>
      targets.some((target) => seen.has(target))
    const needsDatabase = seen.has(TEST_DATABASE)
    const lowest = needsDatabase ? 'database' : reaches(OPENS_SOCKETS) ? 'sockets' : 'unit'
    return {
      file,
      tier: reaches(STARTS_PROCESSES) ? 'processes' : lowest,
      needsDatabase,
      isAlone: reaches(OF_ALL_MODULES),
      isDeep: DEEP.test(readFileSync(join(root, file), 'utf8')),
    }
  }
}
