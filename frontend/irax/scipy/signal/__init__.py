"""irax.scipy.signal: convolutions, trends and spectra."""

from irax.execution.replay import replay_functions as _replay_functions
from irax.scipy.signal.convolutions import convolve as convolve
from irax.scipy.signal.convolutions import convolve2d as convolve2d
from irax.scipy.signal.convolutions import correlate as correlate
from irax.scipy.signal.convolutions import correlate2d as correlate2d
from irax.scipy.signal.convolutions import fftconvolve as fftconvolve
from irax.scipy.signal.spectra import csd as csd
from irax.scipy.signal.spectra import detrend as detrend
from irax.scipy.signal.spectra import istft as istft
from irax.scipy.signal.spectra import stft as stft
from irax.scipy.signal.spectra import welch as welch

_replay_functions(__name__)
