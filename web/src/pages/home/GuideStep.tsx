import { Link, type LinkProps } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { buttonClass } from '../../components/button-class.ts'
import { classNames } from '../../lib/class-names.ts'
import { t } from '../../language/t.ts'

interface GuideStepProps {
  isDone: boolean
  /** The first open step; only it shows instructions. */
  isNext: boolean
  title: string
  text: string
  to?: NonNullable<LinkProps['to']>
  action?: string
  children?: ReactNode
}

export function GuideStep({ isDone, isNext, title, text, to, action, children }: GuideStepProps) {
  return (
    <li
      aria-current={isNext ? 'step' : undefined}
      className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 border-b border-line py-4 first:pt-0 last:border-0 last:pb-0"
    >
      <span
        aria-hidden="true"
        className={classNames(
          'mt-0.5 flex size-6 items-center justify-center rounded-full border-2',
          isDone
            ? 'border-accent bg-accent text-on-accent'
            : isNext
              ? 'border-accent'
              : 'border-line-strong',
        )}
      >
        {isDone && <Check className="size-4" strokeWidth={3} />}
      </span>
      <div className="min-w-0">
        <h3 className={classNames('font-medium', isDone && 'text-muted')}>
          {title}
          <span className="sr-only">{isDone ? t(' (feito)') : t(' (a fazer)')}</span>
        </h3>
        {!isDone && <p className="mt-0.5 text-sm text-muted">{text}</p>}
        {isNext && to !== undefined && (
          <Link to={to} className={buttonClass('primary', 'mt-3 mr-3')}>
            {action}
          </Link>
        )}
        {isNext && children}
      </div>
    </li>
  )
}
