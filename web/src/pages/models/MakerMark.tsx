import { makerOf, UNKNOWN_MAKER } from '../../../../src/site/pages/makers.ts'
import { t } from '../../language/t.ts'

export function makerWords(vendor: string): string {
  return vendor === UNKNOWN_MAKER ? t('não informado') : makerOf(vendor)
}

/** The beginning of a maker's name on a colour of its own; the name stands beside it, or is its title. */
export function MakerMark({ vendor }: { readonly vendor: string }) {
  const name = makerWords(vendor)
  return (
    <span
      aria-hidden="true"
      title={name}
      // Dark enough for white text in both themes.
      style={{ backgroundColor: `hsl(${hueOf(vendor)} 45% 32%)`, color: '#fff' }}
      className="inline-grid size-6 shrink-0 place-items-center rounded-md text-[0.6875rem] leading-none font-bold"
    >
      {vendor === UNKNOWN_MAKER ? '?' : `${name.charAt(0).toUpperCase()}${name.charAt(1)}`}
    </span>
  )
}

function hueOf(vendor: string): number {
  return Array.from(vendor).reduce(
    (sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360,
    7,
  )
}
