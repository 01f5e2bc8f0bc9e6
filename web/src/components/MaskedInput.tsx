import type { ComponentProps } from 'react'
import type { Mask } from '../format/masks.ts'
import { Input } from './Input.tsx'

type MaskedInputProps = Omit<ComponentProps<'input'>, 'value' | 'defaultValue'> & {
  mask: Mask
  defaultValue?: string | undefined
}

/**
 * Punctuates what is typed. The value stays the browser's own, for `FormData` to read. In the middle of a
 * text the caret would jump to its end: there the mask waits until the field is left.
 */
export function MaskedInput({ mask, defaultValue, ...rest }: MaskedInputProps) {
  return (
    <Input
      {...rest}
      defaultValue={defaultValue === undefined ? undefined : mask(defaultValue)}
      onInput={({ currentTarget: input }) => {
        if (input.selectionStart === input.value.length) write(input, mask)
      }}
      onBlur={({ currentTarget: input }) => write(input, mask)}
    />
  )
}

function write(input: HTMLInputElement, mask: Mask): void {
  const masked = mask(input.value)
  if (masked !== input.value) input.value = masked
}
