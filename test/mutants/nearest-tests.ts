/** The tests that are about a file, the nearest first. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTierReader } from '../harness/tiers.ts'
import type { Mutant } from './make-mutants.ts'

const IMPORT = /(?:from|import) '(\.[^']+)'/g
/** Names in SQL and in its callers. */
const MADE = /create (?:or replace )?function (\w+)/g
/** Where a query that lacks its customer shows, of reads and of acts. */
const OF_READS = 'test/http/twin-customers.test.ts'
const OF_ACTS = 'test/http/tenant-isolation.test.ts'
const NEAREST = 12

/**
 * By the steps from a test to the file along imports, where SQL is imported by whoever names one of its functions; a
 * test of the same room or with a word of the file's name in its own comes before. A test that starts processes takes
 * too long.
 */
export function createNearestTests(root: string): (mutant: Mutant) => readonly string[] {
  const files = globSync(['src/**/*.ts', 'src/**/sql/*.sql', 'test/**/*.ts'], { cwd: root })
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const importers = new Map<string, Set<string>>(files.map((file) => [file, new Set()]))
  for (const [file, text] of texts) {
    for (const [, target = ''] of text.matchAll(IMPORT))
      importers.get(join(dirname(file), target))?.add(file)
    const made = file.endsWith('.sql') ? [...text.matchAll(MADE)].map(([, name]) => name) : []
    const names = new RegExp(String.raw`\b(?:${made.join('|')})\b`)
    if (made.length > 0)
      for (const [other, content] of texts)
        if (other !== file && other.startsWith('src/') && names.test(content))
          importers.get(file)?.add(other)
  }
  const readTier = createTierReader(root)
  const tests = files
    .filter((file) => file.endsWith('.test.ts') && readTier(file).tier !== 'processes')
    .filter((file) => file !== OF_READS && file !== OF_ACTS)

  return ({ file, kind }) => {
    const steps = new Map([[file, 0]])
    for (const [reached, far] of steps)
      for (const importer of importers.get(reached) ?? [])
        if (!steps.has(importer)) steps.set(importer, far + 1)
    const room = file.split('/')[1] ?? ''
    const score = (test: string): number =>
      (steps.get(test) ?? 10) - (test.includes(`/${room}/`) ? 2 : 0) - 2 * shared(test, file)
    const sorted = tests
      .map((test) => ({ test, score: score(test) }))
      .toSorted((one, other) => one.score - other.score)
    const found = sorted.slice(0, NEAREST).map(({ test }) => test)
    return kind === 'tenant' ? [OF_READS, ...found, OF_ACTS] : found
  }
}

/** How many words the names share, apart from the plural. */
function shared(one: string, other: string): number {
  const words = (path: string): Set<string> =>
    new Set(
      path
        .split('/')
        .slice(1)
        .join('-')
        .replaceAll(/\.\w+/g, '')
        .split(/[-/]/)
        .map((word) => word.replace(/s$/, '')),
    )
  const others = words(other)
  return [...words(one)].filter((word) => others.has(word)).length
}
