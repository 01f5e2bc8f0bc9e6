/** Which test files share a process. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Placed, Tier } from './tiers.ts'

/** A file for `node:test`, with a process of its own. */
export interface Started {
  readonly path: string
  readonly tier: Tier
}

/** A process for fewer files would load more than they share. */
const FILES_MIN = 4
/** At the beginning of a line: inside a function it is indented. */
const TOP_LEVEL_AWAIT = /^(?:(?:export )?(?:const|let) [^=]*= )?(?:for )?await\b/m

/**
 * Deals files of the lower tiers into at most `groups` processes for each tier; those in `alone` and those that wait
 * at their top level keep processes of their own. The files of the groups are written into `folder`.
 */
export function groupFiles(
  files: readonly Placed[],
  options: { root: string; folder: string; groups: number; alone: readonly string[] },
): Started[] {
  const { root, folder, alone } = options
  const mayShare = ({ file, tier, changesModules }: Placed): boolean =>
    tier !== 'processes' &&
    !changesModules &&
    !alone.includes(file) &&
    !TOP_LEVEL_AWAIT.test(readFileSync(join(root, file), 'utf8'))
  const started: Started[] = files
    .filter((file) => !mayShare(file))
    .map(({ file, tier }) => ({ path: join(root, file), tier }))
  for (const tier of ['database', 'unit'] as const) {
    const sharing = files.filter((file) => file.tier === tier && mayShare(file))
    const groups = Math.min(options.groups, Math.ceil(sharing.length / FILES_MIN))
    for (let group = 0; group < groups; group++) {
      const paths = sharing
        .filter((_, place) => place % groups === group)
        .map(({ file }) => join(root, file))
      const path = join(folder, `${tier}-${group + 1}.test.mts`)
      writeFileSync(path, textOf(root, paths))
      started.push({ path, tier })
    }
  }
  return started
}

function textOf(root: string, paths: readonly string[]): string {
  return [
    `import { runFilesTogether } from ${JSON.stringify(import.meta.resolve('./run-files-together.ts'))}`,
    `runFilesTogether(${JSON.stringify(root)}, ${JSON.stringify(paths, undefined, 2)})`,
    '',
  ].join('\n')
}
