import type { ComponentProps } from 'react'
import { classNames } from '../lib/class-names.ts'
import { CONTROL_CLASS } from './control-class.ts'

/** A multi-line field; it grows with the text in browsers that support it, up to the limit in `className`. */
export function TextArea({ className, rows = 1, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea
      {...rest}
      rows={rows}
      // A field that grows ignores `rows`, so this sets its height, including padding and border.
      {...(rows > 1 ? { style: { minHeight: `calc(${rows}lh + 1.375rem)` } } : {})}
      className={classNames(CONTROL_CLASS, 'field-sizing-content resize-y py-2.5', className)}
    />
  )
}
