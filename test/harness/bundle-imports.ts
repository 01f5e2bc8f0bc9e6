/** Arguments of Node for a process of the project that a test starts. */
export const BUNDLE_IMPORTS: readonly string[] = [
  '--import',
  import.meta.resolve('./use-bundles.ts'),
]
