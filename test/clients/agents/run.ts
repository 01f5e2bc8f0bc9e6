/**
 * `npm run test:clients`: installs the clients of this folder, at the versions of its lock file, and runs every
 * `*.client.ts` against a gateway; those of `../python` install their own. No client runs a script when it is installed.
 * `npm run test:clients -- claude` runs the files whose path contains that word. A run says which clients have newer
 * versions; it does not fail because of it.
 */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareEnvironments } from '../python/prepare-environment.ts'

const folder = import.meta.dirname
const root = join(folder, '../../..')

if (!isInstalled()) install()
prepareEnvironments()
// Asked for while the clients run.
const newer = listNewer()
const args = [join(root, 'test/run.ts'), '--tier=clients', ...process.argv.slice(2)]
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
for (const line of await newer) process.stdout.write(`${line}\n`)
process.exit(status ?? 1)

/** npm writes down what it has installed; it differs from the lock file in what is for other machines. */
function isInstalled(): boolean {
  const wanted = packagesIn(join(folder, 'package-lock.json'))
  const installed = packagesIn(join(folder, 'node_modules/.package-lock.json'))
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || (installed[path] ? installed[path].version === version : optional),
  )
}

/** Empty where no registry answers. */
async function listNewer(): Promise<string[]> {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const pinned: [string, string][] = Object.entries({ ...dependencies, ...optionalDependencies })
  const lines = pinned.map(async ([name, version]) => {
    const newest = await newestOf(name)
    const isNewer = newest.localeCompare(version, 'en', { numeric: true }) > 0
    return isNewer ? [`${name} ${version} is pinned; the newest is ${newest}`] : []
  })
  return (await Promise.all(lines)).flat()
}

function newestOf(name: string): Promise<string> {
  const args = ['view', name, 'version', '--fetch-retries=0', '--fetch-timeout=10000']
  return new Promise((resolve) => {
    execFile('npm', args, { cwd: folder }, (error, stdout) => resolve(error ? '' : stdout.trim()))
  })
}

function packagesIn(file: string): Record<string, { version?: string; optional?: boolean }> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return {}
  }
}

function install(): void {
  const command = ['ci', '--ignore-scripts', '--no-audit']
  const { status: code } = spawnSync('npm', command, { cwd: folder, stdio: 'inherit' })
  if (code !== 0) process.exit(code ?? 1)
}
