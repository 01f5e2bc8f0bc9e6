import { classNames } from '../lib/class-names.ts'

/** The shape of what is being loaded; its size comes by `className`. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={classNames('block h-4 animate-pulse rounded-md bg-sunken', className)}
    />
  )
}
