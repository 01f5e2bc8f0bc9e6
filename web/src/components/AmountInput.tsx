import type { ComponentProps } from 'react'
import { Input } from './Input.tsx'

/** An amount as text for `parseAmount`: the browsers' number fields do not accept a decimal comma. */
export function AmountInput({
  currency = 'R$',
  ...rest
}: ComponentProps<'input'> & { currency?: 'R$' | 'US$' }) {
  return (
    <div className="relative">
      <span
        aria-hidden="true"
        className="pointer-events-none absolute inset-y-0 left-3 flex items-center text-base text-muted md:text-sm"
      >
        {currency}
      </span>
      <Input
        inputMode="decimal"
        autoComplete="off"
        maxLength={20}
        {...rest}
        className={currency === 'R$' ? 'pl-10 tabular-nums' : 'pl-12 tabular-nums'}
      />
    </div>
  )
}
