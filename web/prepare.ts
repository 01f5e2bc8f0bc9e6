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
