/**
 * `npm run test:clients`: installs the clients of this folder, at the versions of its lock file, and runs every
 * `*.client.ts` against a gateway. No client runs a script when it is installed. `npm run test:clients -- claude` runs
 * the files whose name contains that word.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = import.meta.dirname
const root = join(folder, '../../..')

if (!isInstalled()) run('npm', ['ci', '--ignore-scripts', '--no-audit'], folder)
run(process.execPath, [join(root, 'test/run.ts'), '--tier=clients', ...process.argv.slice(2)], root)

/** npm writes down what it has installed; it differs from the lock file in what is for other machines. */
function isInstalled(): boolean {
  const wanted = packagesIn(join(folder, 'package-lock.json'))
  const installed = packagesIn(join(folder, 'node_modules/.package-lock.json'))
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || (installed[path] ? installed[path].version === version : optional),
  )
}

function packagesIn(file: string): Record<string, { version?: string; optional?: boolean }> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return {}
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
