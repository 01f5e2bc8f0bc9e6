import { brl, fineBrl } from '../format/brl.ts'

interface MoneyProps {
  /** BRL, as the API gives it. */
  amount: number
  /** With the places that the price of one request needs. */
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
