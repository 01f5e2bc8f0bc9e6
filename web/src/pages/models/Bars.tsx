import { t } from '../../language/t.ts'

export interface Bar {
  readonly id: string
  /** Null is a line in grey. */
  readonly value: number | null
  readonly title: string
}

interface Props {
  readonly name: string
  /** What the bars say together; undefined if nothing was measured. */
  readonly words: string | undefined
  readonly bars: readonly Bar[]
}

/** A figure over calls or days, the newest at the right. */
export function Bars({ name, words, bars }: Props) {
  if (words === undefined)
    return (
      <p className="text-sm">
        {name}: <span className="text-muted">{t('não medido')}</span>
      </p>
    )
  const top = Math.max(...bars.map(({ value }) => value ?? 0))
  return (
    <figure className="grid gap-2">
      <figcaption className="text-sm">
        <span className="font-medium">{name}</span>
        <span className="block text-muted tabular-nums">{words}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${name}: ${words}`}
        viewBox={`0 0 ${bars.length * 4 - 1} 60`}
        preserveAspectRatio="none"
        className="h-16 w-full"
      >
        {bars.map(({ id, value, title }, place) => {
          const height = Math.max(((value ?? 0) / top) * 60, 1)
          return (
            <rect
              key={id}
              x={place * 4}
              y={60 - height}
              width={3}
              height={height}
              className={value === null ? 'fill-line-strong' : 'fill-accent'}
            >
              <title>{title}</title>
            </rect>
          )
        })}
      </svg>
    </figure>
  )
}
