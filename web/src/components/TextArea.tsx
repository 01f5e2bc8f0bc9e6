import type { ComponentProps } from 'react'
import { classNames } from '../lib/class-names.ts'
import { CONTROL_CLASS } from './control-class.ts'

/** Several lines; grows with what is typed in browsers that know how, up to what `className` allows. */
export function TextArea({ className, rows = 1, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea
      {...rest}
      rows={rows}
      // A field that grows does not mind its rows. With the space above and below, and the border.
      {...(rows > 1 ? { style: { minHeight: `calc(${rows}lh + 1.375rem)` } } : {})}
      className={classNames(CONTROL_CLASS, 'field-sizing-content resize-y py-2.5', className)}
    />
  )
}
