/** A turnstile seen from above, and the name. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2 text-lg font-semibold tracking-tight text-ink">
      <svg aria-hidden="true" viewBox="0 0 32 32" className="size-7">
        <rect width="32" height="32" rx="8" className="fill-accent" />
        <path
          d="M16 16V7M16 16l8 4.6M16 16l-8 4.6"
          className="fill-none stroke-on-accent"
          strokeWidth="3"
          strokeLinecap="round"
        />
        <circle cx="16" cy="16" r="3" className="fill-on-accent" />
      </svg>
      Catraca
    </span>
  )
}
