import type { ComponentProps } from 'react'
import { classNames } from '../lib/class-names.ts'
import { CONTROL_CLASS } from './control-class.ts'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...rest} className={classNames(CONTROL_CLASS, className)} />
}
