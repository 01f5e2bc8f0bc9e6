import { classNames } from '../lib/class-names.ts'

/** A placeholder for content that is loading; `className` gives its size. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={classNames('block h-4 animate-pulse rounded-md bg-sunken', className)}
    />
  )
}
