/**
 * `npm ci` builds the dashboard. Where Vite is not installed (`--omit=dev`) there is nothing to build
 * with; where it is, a build that fails fails the installation.
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
