/** For Input and Select. 16 px on phones, because iOS zooms into smaller fields. */
export const CONTROL_CLASS =
  'block min-h-11 w-full min-w-0 rounded-lg border border-line-strong bg-surface px-3 text-base text-ink placeholder:text-muted focus-visible:outline-offset-1 disabled:bg-sunken disabled:text-muted aria-invalid:border-danger md:min-h-10 md:text-sm'
