/**
 * The browser's own modal dialog: it traps the focus, makes the rest inert and closes by Escape. Unlike
 * Radix's, it needs no <style>, which our content security policy would refuse.
 */
import { X } from 'lucide-react'
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'
import { t } from '../language/t.ts'

interface DialogProps {
  isOpen: boolean
  onClose: () => void
  title: ReactNode
  description?: ReactNode
  /** On phones the dialog rises from the bottom, like a sheet. */
  className?: string
  children?: ReactNode
}

export function Dialog({ isOpen, onClose, title, description, className, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [isFilled, setFilled] = useState(false)
  if (!isOpen && isFilled) setFilled(false)
  useEffect(() => {
    const dialog = ref.current
    if (isOpen && dialog && !dialog.open) {
      dialog.showModal()
      // The browser would choose the button that closes it.
      dialog
        .querySelector<HTMLElement>(':is(input, select, textarea):not(:disabled, [type="hidden"])')
        ?.focus()
    }
    if (!isOpen && dialog?.open) dialog.close()
  }, [isOpen])

  return (
    <dialog
      ref={ref}
      aria-labelledby={`${id}-title`}
      aria-describedby={description === undefined ? undefined : `${id}-description`}
      onClose={({ currentTarget }) => {
        // The browser reports the end in a later task: by then the user may have opened the dialog again. React also
        // passes on the event of a dialog within this one.
        if (!currentTarget.open) onClose()
      }}
      onInput={() => setFilled(true)}
      // A click outside closes the dialog, unless it would discard what was typed. Browsers that do not know it have
      // the button and Escape.
      closedby={isFilled ? 'closerequest' : 'any'}
      className={classNames(
        'm-0 mt-auto max-h-[90dvh] w-full max-w-none overflow-y-auto rounded-t-2xl border border-line bg-surface p-0 text-ink shadow-xl backdrop:bg-black/50 sm:m-auto sm:max-w-lg sm:rounded-2xl',
        className,
      )}
    >
      {isOpen && (
        <div className="p-5 pb-8 sm:p-6">
          <div className="mb-4 flex items-start justify-between gap-4">
            <div>
              <h2 id={`${id}-title`} className="text-lg font-semibold">
                {title}
              </h2>
              {description !== undefined && (
                <p id={`${id}-description`} className="mt-1 text-sm text-muted">
                  {description}
                </p>
              )}
            </div>
            <button
              type="button"
              onClick={onClose}
              aria-label={t('Fechar')}
              className="-m-2 flex size-11 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
            >
              <X aria-hidden="true" className="size-5" />
            </button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  )
}
