import { brl, fineBrl } from '../format/brl.ts'

interface MoneyProps {
  /** BRL, as the API returns it. */
  amount: number
  /** With enough decimals for the price of a single request. */
  isFine?: boolean
  className?: string
}

export function Money({ amount, isFine = false, className = '' }: MoneyProps) {
  return (
    <span className={`whitespace-nowrap tabular-nums ${className}`}>
      {isFine ? fineBrl(amount) : brl(amount)}
    </span>
  )
}
