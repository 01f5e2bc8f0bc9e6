import { Button } from '../../components/Button.tsx'
import type { Days } from './spend-periods.ts'

interface Props {
  readonly presets: readonly (readonly [string, Days])[]
  readonly chosen: Days
  readonly onChoose: (days: Days) => void
}

/** Periods at one click, beside the fields of days. */
export function PeriodButtons({ presets, chosen, onChoose }: Props) {
  return (
    <ul className="flex flex-wrap gap-2">
      {presets.map(([text, preset]) => (
        <li key={text}>
          <Button
            variant="secondary"
            aria-pressed={preset.from === chosen.from && preset.to === chosen.to}
            className="aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
            onClick={() => onChoose(preset)}
          >
            {text}
          </Button>
        </li>
      ))}
    </ul>
  )
}
