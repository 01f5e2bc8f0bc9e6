import type { ComponentProps } from 'react'
import { classNames } from '../lib/class-names.ts'
import { CONTROL_CLASS } from './control-class.ts'

/** The browser's own list: every phone and every screen reader can show it. */
export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select {...rest} className={classNames(CONTROL_CLASS, 'pr-8', className)} />
}
