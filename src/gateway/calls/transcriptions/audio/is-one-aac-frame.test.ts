import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../../test/harness/fast-check.ts'
import { createIsOneAacFrame } from './is-one-aac-frame.ts'

/** Frames of random sound by the encoder of ffmpeg, of long and of short windows, by the index of their rate. */
const FRAMES: readonly (readonly [rateIndex: number, frame: string])[] = [
  [
    11,
    'ARqc2uow11MLuU2KIZeGBAADzwSXf9Bx1BF339j20nVhqjGtgVxzPH2K5RyfCobiVXKuiZpnFTNL+YoS6SSe' +
      'PZxJOxn81bzyeGTYBPnVmgjks9t/TbrwlFcKnfO1NvLf1tTaV/nGNE2zpYGCS2hgm9e/43yb+shN7MGBgkJd' +
      'wYGCSruDAxW6P56oawPPqABAAAUwwJMqpqhHmWfnx94aR4VwKghkrnRCElBO5pJk1Ep7y7sRKfBSUIGT+B3Y' +
      '+zpOp6bFvicTValc3wdCowUOsIyPdrrp41UVO/0YG6qZ3BiU0x7t+zYN+/fsiDfvuiAbwAxOVFkUiLlFAZeT' +
      '97dmFsFSe0H4b3sRcA==',
  ],
  [
    8,
    'ANo1rbRWeSUC7fx//c/X+uf/8Opeq3aevjciJO/PHv58EiSoPyX2n5b6bjrOObt2734o8X/IMc4sEkFCFZsK' +
      'dVkOecSIYaKQeugBACjOpKwAqABIQf/H8l3TgQP2vzXePeXNPF2jeauLdHaNxbFeLuLdjaN0dmHaspxWJxWJ' +
      'bNWzVs1bNWzVs1bNWTFkxZMWTFkxZ2dn6+7r7uvuprprprprprprprprprprprprprprprprprprprprprpr' +
      'prprprprprprprprprprprprprprprMjIyMjIyprprprvtvtvtvt17te7Xu17te7Xu17jIyMjIyMjIyvtvtv' +
      'tvtvtvtvtvtvteeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee' +
      'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeI3QMWBixYGBgYGBgYGBgfA',
  ],
  [
    7,
    'IRqIACJM0oEMTWQThDplZn9v/p9v1/2/5411+vi9e3MvHDc4nPnl1s5CA+jz1501EZ555jz23ftuMjIyMjIy' +
      '279u9nZ2dnvtvKiiiiih555556iiiiiiih555555556iiiih555556iiiiiiiiiiiih5555556iiiiiiigAT' +
      '4BtcKaGkf//feVmeP/7Pv/9//fx554Vrd+PLl5nft2893szQABgc6BGwOdyROIWHhnM9gSeAu3yEgFblFJWB' +
      'w9uHYeWcxweR5fkcOhToU8jLyMtsgsihToU8jLyMsYBgoU6FOg2sLCxOsLCwsLCrCwsLCwsLCxCwsLCzyzyw' +
      'sLCrCwsLCxPLPLPLPLPLPKsLCwsLCwsLCwsLCwsTyzyzyzyxLCwqwsLCwsLCwsQsLCwsLCwsLCrCwsLCwsLC' +
      'wsLCwsLCwcGSwcGX',
  ],
  [
    5,
    'ASyc2thN4tJRgO2yHq2nQnSHNervjoS+NXq5/d9w1rrUvX/8T7mvjzqCDJryUCliTMw0gKISooui2TFOt6mR' +
      'lItRL69hapfO2Nj1Ns0oMuUGc3KDAzublBgZ31Q/n7j+eqH8/5+4aoP5+4BcGdgkKNDB4xBTp/uWjQ9mWZUG' +
      'n8tPU06XIprJ7zYXk7YyGQh/L+WuZ/LCH8vUH8v5eoD+X8v5TB/L+X8tYP5fy/l/IA/l/KIAwgAru5KMiWxq' +
      'j7eOqmmm0SE/KflP/J+U/KflPykJCQkJCQmabYOA',
  ],
  [
    5,
    'APg3rTBEdtGwB7dEAA8CIQQAFKczhuuMgPCEvCnyjJfld/nyE/8J1/OjJ/lh+ShPwVfIuMT4D7MI7v+RIS/s' +
      'f/baivl5d2ExP2MeobYHUT2G6imw3qMDI3Xd5pppppppkgYGBgYGBgYGBgYGBgYGBgYemmmmmmmmmmmmmmmW' +
      '/A==',
  ],
  [
    4,
    'ARwuLy43/o3T/+cAAAABQNLn9znLBJ2y8Efp8a7q13gsQX4fwTqvWmL0xTcUg7oa2hrYE6ROkToEaBGgHEHE' +
      'HEHEHEHEHMNMNMNMNMNMNMNMNMNMNMNMNAAAAAAAAAAAAAAAAAAAAAAAAAAA4A==',
  ],
  [
    3,
    'IUhsUdkrqsjxRLiynD69ur03Nf/T2+Ota41//c+vrrWuNf/3Pb261fGh2gNDFFFFFxuVtwvd67DCP8ox/kj/' +
      'I/l/IP5fyD+X8g4U/wR3sqJGZxJkQ54hzxAD6PREB9PpEQH0+ndgzJwJCQk4EhISEz9r5qoif1ET5K2vzcyq' +
      'bV5nlQvOv99a41/6d7oBtTs0QMFcwv5efuSKo6AB/Jz1ZhB8omfKJny+URMHy+UUTB8vlxiA115eWHA=',
  ],
  [
    3,
    'IRdIBAAAJItaIgv/7P9/1//hrrjjUiRJEiVG9IMErKKKKKL5c088888888/y4/L5fL5fL5fL5fL5c3y+XN8v' +
      'l8p5555555555555555555555555554cn+rSOe/+P/4v/L/f/fWS5cihQdEQRRRLXoMYRRRRRRRRRRRc',
  ],
  [
    2,
    'AUKU2sk91EeqI9WU6dffpwacXP/jX11xq9av/+57fHHF3xd//hz9/PGr4vQqET5Nr16+X127y/RkDUec/mfz' +
      'D+f8w/n/MP5/zAP5/z/nq9slhIeKul4vdF/M/mfzH8/5h/P+Yfz/mB/P+f87gRGLhALXNMcOTBJwJOBIScm4',
  ],
  [
    0,
    'AUSRssiQ1liOopxZTgfdd6vX/b73fGr4/+n3111qcDyQrt1dG6sQ9eO1iEXLx6Z2fBsL+ZgMBgDADA+bB1SV' +
      'yaKlXCStEBKmWs4EnFhJzg==',
  ],
  [
    6,
    'AO40ruhbKQtMqev7f9vP+n/xn/P/7pxXCYq358znz9X5lf2PGxBTWE2VjnirfNJ+cSXbgd1YGEhUbMgNGrzG' +
      '9Pw5A7AN1X/Y/t/ePvfpHsfVFTg/CfH+GcT2RofQnc/LnL/WHO/FG09MbT2hpvTFJ0hSdWR/Hkfx4+3w+3xH' +
      '8eR++H3fr/fr/fr/NJppv83+b/N/m/zf5v800003+b/N/m/zaDoGg6BoOgaDoGg37bat22rdt2zbdA0GPe9u' +
      '9eTuTeTuTeTuTeTuTfIvIe9u9e9u9eTuTeTuTeTuTeTuTegv0Ogugfx92/j7t/H/G3du3d341FFFFFFFFFFF' +
      'FFFH',
  ],
  [
    10,
    'IUxshwARgABgSlksNsj5ZHyynj/+7/7fHXF3d61/b/+n/1+uuNS9edft//y/5+/XF6nF69f/6v8fv58tXq9B' +
      'u9KMjnnnn3773bzeW1+pgXq5x13vWM3qm9U38phPXPW1zm+GvXrmAAAZ8gb/aGiZSLWt0bo7zebzebw37w37' +
      'wPdv3gfz37/2pI4sFSvnKbBpQY2DG5QYGljoJb7ZLexVkvLJeP7/6/7/zx1ZH3//t/9v9/1867V+us//tf9v' +
      '+f1861rWtdf/3v/H+/6+eOL41wGaR2oTGo+y2cC8eU8tSeBCErWwiERMiiZrA/l/L+WwH8v5fy2A7e+h9a/A' +
      '7O65SkMQgGMw1D2uh7XQ99KHnvp9KKHnvp9KKOd576fT6UUUc7z30+n0ooo1uQIPBBooqOiiiiiiiiiijg==',
  ],
]
const frames = FRAMES.map(([rateIndex, text]) => ({
  rateIndex,
  frame: Buffer.from(text, 'base64'),
}))
/** The shortest sound: a channel without bands. */
const SILENCE = Buffer.from('01182007', 'hex')
const RATE = 3

/** As in a file, where bytes follow; those must not matter. */
function isOne(sample: Buffer, rateIndex = RATE): boolean {
  const around = Buffer.alloc(sample.length + 20, 0xff)
  sample.copy(around, 5)
  return createIsOneAacFrame(rateIndex)(around, 5, 5 + sample.length)
}

/** The bytes of bits, without spaces. */
function bits(text: string): Buffer {
  const digits = text.replaceAll(' ', '')
  const bytes = digits.padEnd(Math.ceil(digits.length / 8) * 8, '0').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}
const CHANNEL = '000 0000 00000000 0 00 0 000000 0 000'
const END = '111'

test('a frame of an encoder is one frame, also with zeros after it', () => {
  for (const { rateIndex, frame } of [...frames, { rateIndex: RATE, frame: SILENCE }]) {
    assert.ok(isOne(frame, rateIndex))
    assert.ok(isOne(Buffer.concat([frame, Buffer.alloc(9)]), rateIndex))
  }
  assert.ok(isOne(bits(CHANNEL + END)))
})

test('a frame with anything else after it, or less than a frame, is not one frame', () => {
  for (const { rateIndex, frame } of frames) {
    for (const more of [frame, SILENCE, Buffer.from([0, 0, 1])])
      assert.ok(!isOne(Buffer.concat([frame, more]), rateIndex))
    for (let length = 0; length < frame.length; length++)
      assert.ok(!isOne(frame.subarray(0, length), rateIndex), `${rateIndex}: ${length}`)
  }
})

test('a frame with a header of its own is not one frame', () => {
  for (const header of ['fff16c40017ffc', 'fff06c40017ffc0000', '56e006'])
    assert.ok(!isOne(Buffer.concat([Buffer.from(header, 'hex'), SILENCE])))
})

test('of fill elements, only padding and what follows a channel are skipped', () => {
  // Two bytes: the content's four bits of type, and twelve others.
  const fill = (type: number): string =>
    `110 0010 ${type.toString(2).padStart(4, '0')} ${'01'.repeat(6)}`
  for (const type of [0, 1]) assert.ok(isOne(bits(fill(type) + CHANNEL + END)))
  for (const type of [0, 1, 13, 14]) assert.ok(isOne(bits(CHANNEL + fill(type) + END)))
  // Decoders do not skip the higher frequencies of no channel, and read the ranges of loudness in their own way.
  for (const type of [13, 14, 11, 2]) assert.ok(!isOne(bits(fill(type) + CHANNEL + END)))
  for (const type of [11, 2, 12]) assert.ok(!isOne(bits(CHANNEL + fill(type) + END)))
})

test('a data element is skipped, from the next byte on if it says so', () => {
  assert.ok(isOne(bits(`100 0000 0 00000001 11111111 ${CHANNEL} ${END}`)))
  assert.ok(isOne(bits(`${CHANNEL} 100 0000 1 00000001 ${'0'.repeat(5)} 11111111 ${END}`)))
  assert.ok(!isOne(bits(`100 0000 0 11111111 11111111 ${CHANNEL} ${END}`)))
})

test('coupled channels, descriptions, gain control, prediction and pulses in short windows are refused', () => {
  for (const frame of [
    `010 ${CHANNEL.slice(4)}`,
    `101 ${CHANNEL.slice(4)}`,
    '000 0000 00000000 0 00 0 000000 0 001',
    '000 0000 00000000 0 00 0 000000 1 000',
    '000 0000 00000000 0 10 0 0000 1111111 100',
    // Masks of a pair of an unknown kind.
    '001 0000 1 0 00 0 000000 0 11 00000000 000 00000000 000',
  ])
    assert.ok(!isOne(bits(frame + END)), frame)
  assert.ok(isOne(bits(`000 0000 00000000 0 10 0 0000 1111111 000${END}`)))
  assert.ok(isOne(bits(`001 0000 1 0 00 0 000000 0 10 00000000 000 00000000 000${END}`)))
})

test('no bytes fail or take long', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(12), (sample, rateIndex) => {
      assert.equal(typeof isOne(Buffer.from(sample), rateIndex), 'boolean')
    }),
  )
  const { rateIndex, frame } = frames[0] as (typeof frames)[number]
  for (let bit = 0; bit < frame.length * 8; bit++) {
    const damaged = Buffer.from(frame)
    damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (0x80 >> (bit & 7))
    // A second frame is never taken for a part of the first.
    assert.ok(!isOne(Buffer.concat([damaged, SILENCE, SILENCE]), rateIndex), `bit ${bit}`)
  }
})
