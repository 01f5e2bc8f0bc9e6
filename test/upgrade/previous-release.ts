/** The program of the previous release, out of the history of the repository. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Nothing has been released: the first commit with the baseline of the migrations. Each release moves it. */
export const PREVIOUS_COMMIT = 'fcad3071d1202a26870e724bd4008027e00b61f6'

const root = join(import.meta.dirname, '../..')

/** Why the previous release cannot be had here; undefined where it can. */
export async function findPreviousMissing(): Promise<string | undefined> {
  try {
    await promisify(execFile)('git', ['cat-file', '-e', `${PREVIOUS_COMMIT}^{commit}`], {
      cwd: root,
    })
    return undefined
  } catch {
    return `the git history here has no commit ${PREVIOUS_COMMIT.slice(0, 7)}, the previous release: fetch all of it (git fetch --unshallow)`
  }
}

export interface PreviousRelease {
  readonly serverProgram: string
  readonly cliProgram: string
  /** Its processes compile its files into its folder: the folder of this release would keep them for ever. */
  readonly env: { readonly NODE_COMPILE_CACHE: string }
  remove(): Promise<void>
}

/** With the packages of this release. */
export async function unpackPreviousRelease(): Promise<PreviousRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-previous-'))
  const archive = spawn('git', ['archive', PREVIOUS_COMMIT, 'src', 'package.json'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const unpack = spawn('tar', ['-x', '-C', folder], {
    stdio: [archive.stdout, 'inherit', 'inherit'],
  })
  const [[archived], [unpacked]] = (await Promise.all([
    once(archive, 'exit'),
    once(unpack, 'close'),
  ])) as [[number], [number]]
  if (archived !== 0 || unpacked !== 0)
    throw new Error(`git archive ended with code ${archived}, tar with code ${unpacked}`)
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    serverProgram: join(folder, 'src/main.ts'),
    cliProgram: join(folder, 'src/app/cli/main.ts'),
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled') },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
