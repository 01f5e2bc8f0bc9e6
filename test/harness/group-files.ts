/** Which test files share a process. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Placed, Tier } from './tiers.ts'

/** A file for `node:test`, with a process of its own. */
export interface Started {
  readonly path: string
  readonly tier: Tier
  /** The test files that it runs, from the root of the project. */
  readonly files: readonly string[]
}

/**
 * A process for fewer files than `min` would load more than they share. Those of the tier `processes` share only in a
 * large run: few of them end sooner side by side, and more than `max` would end too late. Tests without a database
 * rarely wait, so that more than `groups` processes would only load the same modules once more.
 * The tiers begin in this order: the groups that take longest first, so that none of them runs alone at the end.
 */
const GROUPS: Record<Tier, { from: number; min: number; max: number; groups: number }> = {
  database: { from: 1, min: 4, max: Infinity, groups: Infinity },
  processes: { from: 20, min: 4, max: 6, groups: Infinity },
  sockets: { from: 1, min: 4, max: Infinity, groups: 2 },
  unit: { from: 1, min: 4, max: Infinity, groups: 2 },
}

/**
 * Deals files into processes: at least `groups` for each tier if there are enough files, and if the tier has no lower
 * number. Those in `alone` keep processes of their own. The files of the groups are written into `folder`.
 */
export function groupFiles(
  files: readonly Placed[],
  options: { root: string; folder: string; groups: number; alone: readonly string[] },
): Started[] {
  const { root, folder, alone } = options
  const mayShare = ({ file, tier, isAlone }: Placed): boolean =>
    options.groups > 0 &&
    files.filter((other) => other.tier === tier).length >= GROUPS[tier].from &&
    !isAlone &&
    !alone.includes(file)
  const [sharing, others] = [files.filter(mayShare), files.filter((file) => !mayShare(file))]
  const started: Started[] = others.map(({ file, tier }) => ({
    path: join(root, file),
    tier,
    files: [file],
  }))
  for (const tier of Object.keys(GROUPS) as Tier[]) {
    const { min, max, groups: most } = GROUPS[tier]
    const all = sharing.filter((file) => file.tier === tier).map(({ file }) => file)
    const fewest = Math.min(options.groups, most, Math.ceil(all.length / min))
    const groups = Math.max(fewest, Math.ceil(all.length / max))
    for (let group = 0; group < groups; group++) {
      const together = all.filter((_, place) => place % groups === group)
      const path = join(folder, `${tier}-${group + 1}.test.mts`)
      writeFileSync(path, textOf(root, together))
      started.push({ path, tier, files: together })
    }
  }
  return started
}

function textOf(root: string, files: readonly string[]): string {
  const paths = files.map((file) => join(root, file))
  return [
    `import { runFilesTogether } from ${JSON.stringify(import.meta.resolve('./run-files-together.ts'))}`,
    `await runFilesTogether(${JSON.stringify(root)}, ${JSON.stringify(paths, undefined, 2)})`,
    '',
  ].join('\n')
}
