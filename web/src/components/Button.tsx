import type { ComponentProps, ReactNode } from 'react'
import { buttonClass, type ButtonVariant } from './button-class.ts'
import { Spinner } from './Spinner.tsx'

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: ButtonVariant
  /**
   * Shows that the action is running and ignores clicks; the button stays focusable, so that the focus is not
   * lost.
   */
  isBusy?: boolean
  icon?: ReactNode
}

/** For links that look like buttons: `<Link className={buttonClass('primary')}>`. */
export function Button({
  variant = 'primary',
  isBusy = false,
  icon,
  className,
  children,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || rest['aria-disabled']}
      className={buttonClass(variant, className)}
      onClick={(event) => {
        if (isBusy) return event.preventDefault()
        onClick?.(event)
      }}
    >
      {isBusy ? <Spinner /> : icon}
      {children}
    </button>
  )
}
